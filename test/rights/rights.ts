/**
 * Who may call what of the whole service, in words of our own: not read from the declarations, so
 * that a guard which is left out of one does not leave its test with it.
 */
export type Access =
  | 'anyone'
  | 'idempotency-key'
  | 'either-token'
  | 'operator-token'
  /** Whoever is signed in. */
  | 'session'
  /** Whoever is signed in to an administrator's account. */
  | 'admin'
  /** Whoever is signed in to the account that holds the agent. */
  | 'owner'
  | 'listed-address'

export interface Budget {
  readonly name: 'reads' | 'writes' | 'exports' | 'controls' | 'births' | 'oauth' | 'registrations'
  /** A birth is counted by its address; `nothing` only shows the budget. */
  readonly takes: 'one' | 'a birth' | 'nothing'
}

/** A form: not from another site, of a form's media type, of a bounded size. */
export interface Form {
  readonly maxBytes: number
  /** A refusal shows the form again, with what was typed. */
  readonly again: boolean
}

export interface Rights {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly access: Access
  /** What a named key needs: any of them, one that reaches the memory, or one that also writes. */
  readonly named: 'any' | 'reads' | 'writes'
  /** Only for endpoints that take the agent token: it works while the agent is paused. */
  readonly whilePaused: boolean
  readonly budget: Budget | undefined
  readonly form: Form | undefined
  /** A file that a script of ours sends: not from another site either. */
  readonly upload?: true
  /** Asks for the password again, where that was long ago. */
  readonly secondLook?: true
  /** Whose pages may call it: those of listed origins, of all, of all but browsers', or of none. */
  readonly cors: 'listed' | 'all' | 'programs' | 'none'
  /** Refuses headers that came twice, and tokens in its address. */
  readonly strict: boolean
  readonly cacheControl: string | null
  /** Is there where the service has an address with https, or loopback's. */
  readonly offered?: true
  /** HOME_ENABLED=false stops it. */
  readonly ofHome: boolean
  /** BIRTHS_ENABLED=false stops it. */
  readonly needsBirths: boolean
  /** Waits at the door of the gateway, and is shed there. */
  readonly waits: boolean
}

export type Granted = Partial<Omit<Rights, 'operationId' | 'method' | 'path'>>

/** What is the same for all rows of a door, and then each row's own. */
export const rowsOf =
  (common: Omit<Rights, 'operationId' | 'method' | 'path'>) =>
  (operationId: string, at: string, own: Granted = {}): Rights => {
    const [method, path] = at.split(' ') as [Rights['method'], string]
    return { operationId, method, path, ...common, ...own }
  }

export const takesToken = ({ access }: Rights): boolean =>
  access === 'either-token' || access === 'operator-token'

export const takesSession = ({ access }: Rights): boolean =>
  access === 'session' || access === 'admin' || access === 'owner'
