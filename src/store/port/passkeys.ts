/** Passkeys: how an account is signed in to beside its password. */

export interface Passkey {
  /** As its authenticator calls it, base64url. */
  readonly id: string
  readonly accountId: string
  /** COSE, base64url. */
  readonly publicKey: string
  /** How often it signed, as its authenticator counts; 0: it does not. */
  readonly counter: number
  /** The name of the service that it was made for; it works under no other. */
  readonly site: string
  /** How a browser reaches its authenticator, as the browser said. */
  readonly transports: readonly string[]
  /** The browser that made it, as it called itself. */
  readonly userAgent: string
  readonly createdAt: number
  /** Undefined: never. */
  readonly usedAt: number | undefined
}

export type NewPasskey = Omit<Passkey, 'createdAt' | 'usedAt'>

/** With the address of its account. */
export interface FoundPasskey extends Passkey {
  readonly email: string
}

/** What a passkey answered to: accepted once. */
export interface Challenge {
  /** SHA-256, hex. */
  readonly hash: string
  /** Nobody accepts it any more from then on. */
  readonly expiresAt: number
}

export interface PasskeyUse {
  readonly id: string
  readonly counter: number
  readonly challenge: Challenge
}

export const PASSKEYS_PER_ACCOUNT = 10

export type AddPasskeyAnswer =
  | { readonly outcome: 'added' }
  /** The challenge was answered before. */
  | { readonly outcome: 'spent' }
  /** An account has it already, this one or another. */
  | { readonly outcome: 'taken' }
  /** The account has `PASSKEYS_PER_ACCOUNT`. */
  | { readonly outcome: 'full' }

export type UsePasskeyAnswer =
  | { readonly outcome: 'used' }
  /** The challenge was answered before. */
  | { readonly outcome: 'spent' }
  /** It has signed as often already, or more often: there may be a copy of it. Or it is gone. */
  | { readonly outcome: 'stale' }

export interface PasskeyStore {
  addPasskey(passkey: NewPasskey, challenge: Challenge, now: number): Promise<AddPasskeyAnswer>
  findPasskey(id: string): Promise<FoundPasskey | undefined>
  /** Of all sites, oldest first. */
  listPasskeys(accountId: string): Promise<readonly Passkey[]>
  /** Spends the challenge and remembers how often the passkey has signed. */
  usePasskey(use: PasskeyUse, now: number): Promise<UsePasskeyAnswer>
  /** False when the account has no such passkey. */
  removePasskey(accountId: string, id: string): Promise<boolean>
  /** What all processes on this data share under the name: what was offered first. */
  sharedSecret(name: string, offered: string): Promise<string>
}
