/** What the owner of the host may do to the data, without credentials. */

export type ResetAnswer =
  | { readonly outcome: 'replaced' }
  /** No agent has this id. */
  | { readonly outcome: 'missing' }

/** The summary of an entry for whoever moderates it. */
export interface EntrySummary {
  readonly id: string
  readonly feed: string
  readonly room: string
  /** At most `SHOWN_CHARS` characters, as of the text. */
  readonly identity: string
  readonly text: string
  /** Approximate size of the whole entry. */
  readonly bytes: number
  readonly createdAt: number
}

/** Unicode characters of an entry's text in a summary. */
export const SHOWN_CHARS = 200

export interface EntriesWanted {
  /** All feeds if omitted. */
  readonly feed?: string | undefined
  /** Only entries with a lower id. */
  readonly before?: string | undefined
  readonly limit: number
}

export type RecoverAnswer =
  | { readonly outcome: 'made' }
  /** No account has this e-mail address. */
  | { readonly outcome: 'missing' }

/** `missing`: no account has this e-mail address. */
export type AdminAnswer = { readonly outcome: 'set' } | { readonly outcome: 'missing' }

export type RemoveAnswer = { readonly outcome: 'removed' } | { readonly outcome: 'missing' }

export interface HostStore {
  /**
   * Replaces the operator token. The old token is invalid from then on and cannot be replayed, and
   * the agent leaves its account, because the host's owner cannot know who else has access to it.
   */
  resetOperatorToken(agentId: string, tokenHash: string, now: number): Promise<ResetAnswer>
  /**
   * Lets the holder of the secret set a new password for the account, once, until the secret
   * expires. An earlier link of the account becomes invalid.
   */
  recoverAccount(email: string, secretHash: string, expiresAt: number): Promise<RecoverAnswer>
  /** Lets the account remove entries of the gateway in the console, or no longer. */
  setAdmin(email: string, isAdmin: boolean): Promise<AdminAnswer>
  /** Entries of the gateway, newest first. */
  listEntries(wanted: EntriesWanted): Promise<readonly EntrySummary[]>
  /** Removes an entry and its index rows from the gateway. */
  removeEntry(id: string): Promise<RemoveAnswer>
}

/**
 * The data as commands on the host reach it: opened by the command, or through the process that
 * holds it.
 */
export interface Host extends HostStore {
  /** The location of the data, for people; without credentials. */
  readonly location: string
  close(): Promise<void>
}
