/** Passkeys: sign-in without a password. */

export interface Passkey {
  /** As the authenticator names it, base64url. */
  readonly id: string
  readonly accountId: string
  /** COSE, base64url. */
  readonly publicKey: string
  /** The authenticator's signature counter; 0 if it has none. */
  readonly counter: number
  /** The relying party id; the passkey works with no other. */
  readonly site: string
  /** Transports, as reported by the browser. */
  readonly transports: readonly string[]
  /** The User-Agent of the browser that created it. */
  readonly userAgent: string
  readonly createdAt: number
  /** Undefined: never. */
  readonly usedAt: number | undefined
}

export type NewPasskey = Omit<Passkey, 'createdAt' | 'usedAt'>

/** With the e-mail address of its account. */
export interface FoundPasskey extends Passkey {
  readonly email: string
}

/** A WebAuthn challenge, accepted once. */
export interface Challenge {
  /** SHA-256, hex. */
  readonly hash: string
  /** It is not accepted after this time. */
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
  /** The challenge was used before. */
  | { readonly outcome: 'spent' }
  /** The passkey is already registered, with this or another account. */
  | { readonly outcome: 'taken' }
  /** The account already has `PASSKEYS_PER_ACCOUNT`. */
  | { readonly outcome: 'full' }

export type UsePasskeyAnswer =
  | { readonly outcome: 'used' }
  /** The challenge was used before. */
  | { readonly outcome: 'spent' }
  /** The counter did not increase, so the passkey may have been copied; or it was removed. */
  | { readonly outcome: 'stale' }

export interface PasskeyStore {
  addPasskey(passkey: NewPasskey, challenge: Challenge, now: number): Promise<AddPasskeyAnswer>
  findPasskey(id: string): Promise<FoundPasskey | undefined>
  /** Of all relying parties, oldest first. */
  listPasskeys(accountId: string): Promise<readonly Passkey[]>
  /** Uses up the challenge and stores the new counter. */
  usePasskey(use: PasskeyUse, now: number): Promise<UsePasskeyAnswer>
  /** False when the account has no such passkey. */
  removePasskey(accountId: string, id: string): Promise<boolean>
  /** A secret that all processes on this data share; undefined until one is offered. */
  findSecret(name: string): Promise<string | undefined>
  /** The secret with this name: the first one offered. */
  sharedSecret(name: string, offered: string): Promise<string>
}
