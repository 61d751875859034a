/** What whoever owns the host may do on the data itself: the last resort, past every credential. */

export type ResetAnswer =
  | { readonly outcome: 'replaced' }
  /** No agent has this id. */
  | { readonly outcome: 'missing' }

export interface HostStore {
  /**
   * Gives the agent another operator token. The old one is void when this answers, no replay gives
   * it or another again, and the agent leaves its account: whoever has lost a token, or has it
   * shared with a stranger, knows no other who is to keep the agent.
   */
  resetOperatorToken(agentId: string, tokenHash: string, now: number): Promise<ResetAnswer>
}

/** The data as the host's owner reaches it: opened for this alone, or through whoever holds it. */
export interface Host extends HostStore {
  /** Where the data lives, for people; without credentials. */
  readonly location: string
  close(): Promise<void>
}
