/** What whoever owns the host may do on the data itself: the last resort, past every credential. */

export type ResetAnswer =
  | { readonly outcome: 'replaced' }
  /** No agent has this id. */
  | { readonly outcome: 'missing' }

/** What is shown of an entry to whoever decides whether it stays. */
export interface EntrySummary {
  readonly id: string
  readonly feed: string
  readonly room: string
  /** As much of it as `SHOWN_CHARS`, and so of the text. */
  readonly identity: string
  readonly text: string
  /** What the whole entry takes, nearly. */
  readonly bytes: number
  readonly createdAt: number
}

/** Unicode characters of what strangers wrote that a summary holds. */
export const SHOWN_CHARS = 200

export interface EntriesWanted {
  /** All, where there is none. */
  readonly feed?: string | undefined
  /** Only those with a lower id. */
  readonly before?: string | undefined
  readonly limit: number
}

export type RecoverAnswer =
  | { readonly outcome: 'made' }
  /** No account has this e-mail address. */
  | { readonly outcome: 'missing' }

export type RemoveAnswer = { readonly outcome: 'removed' } | { readonly outcome: 'missing' }

export interface HostStore {
  /**
   * Gives the agent another operator token. The old one is void when this answers, no replay gives
   * it or another again, and the agent leaves its account: whoever has lost a token, or has it
   * shared with a stranger, knows no other who is to keep the agent.
   */
  resetOperatorToken(agentId: string, tokenHash: string, now: number): Promise<ResetAnswer>
  /**
   * Lets whoever holds the secret set another password for the account, once and until then. A link
   * of the account that was made before is void.
   */
  recoverAccount(email: string, secretHash: string, expiresAt: number): Promise<RecoverAnswer>
  /** What strangers left in the gateway, newest first. */
  listEntries(wanted: EntriesWanted): Promise<readonly EntrySummary[]>
  /** Takes an entry out of the gateway, and out of all that finds or counts it. */
  removeEntry(id: string): Promise<RemoveAnswer>
}

/** The data as the host's owner reaches it: opened for this alone, or through whoever holds it. */
export interface Host extends HostStore {
  /** Where the data lives, for people; without credentials. */
  readonly location: string
  close(): Promise<void>
}
