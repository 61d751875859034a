/**
 * Identities, cached so that a known token costs no lookup. The cache is exact, because only this
 * process writes to the database: every change of a credential or a status empties it before the
 * response, which is rare and simpler than removing single entries.
 */
import type { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { refusalOf } from '../answers.ts'
import { CREDENTIAL, type CredentialRow, identityOf } from '../credentials.ts'
import type { Identity, Refused } from '../port/identity.ts'
import { prepare } from './engine/connection.ts'

export type Identify = (tokenHash: string) => Identity | undefined

/** A cache in front of the lookup, valid until it is cleared. */
export type Remember = (lookUp: Identify) => Identify

/** The identity of a token, and why it may not act now, if so. */
export function prepareIdentify(db: DatabaseSync, remember: Remember = (lookUp) => lookUp) {
  const credential = prepare<CredentialRow>(
    db,
    `SELECT ${CREDENTIAL} FROM credentials WHERE token_hash = ?`,
  )
  const identify = remember((tokenHash) => {
    const row = credential.get(tokenHash)
    return row && identityOf(tokenHash, row)
  })
  const refuse = ({ tokenHash }: Identity): Refused | undefined => {
    const now = identify(tokenHash)
    return refusalOf(now?.kind, now?.status)
  }
  return { identify, refuse }
}

export type Refuse = ReturnType<typeof prepareIdentify>['refuse']

/** An identity that is dropped is looked up again. */
const MAX_REMEMBERED = 40_000

interface Remembered {
  readonly identity: Identity
  /** How much had been forgotten by then. */
  readonly era: number
}

export function rememberIdentities() {
  const cache = new LRUCache<string, Remembered>({ max: MAX_REMEMBERED })
  // To clear the cache costs as much as it may hold, however little it does.
  let era = 0
  const known = (tokenHash: string): Identity | undefined => {
    const found = cache.get(tokenHash)
    return found?.era === era ? found.identity : undefined
  }
  return {
    known,
    remember:
      (lookUp: Identify): Identify =>
      (tokenHash) => {
        const remembered = known(tokenHash)
        if (remembered) return remembered
        const identity = lookUp(tokenHash)
        if (identity) cache.set(tokenHash, { identity, era })
        return identity
      },
    forget: (): void => void era++,
  }
}
