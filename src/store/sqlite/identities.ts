/**
 * Identities, cached so that a known token costs no lookup. The cache is exact, because only this
 * process writes to the database: every change of a credential or a status clears it before the
 * response, which is rare and simpler than removing single entries.
 */
import type { DatabaseSync } from 'node:sqlite'
import { refusalOf } from '../answers.ts'
import { BOUNDS, type CredentialRow, identityOf } from '../credentials.ts'
import type { Identity, Refused } from '../port/home.ts'
import { prepare } from './engine/connection.ts'

export type Identify = (tokenHash: string) => Identity | undefined

/** A cache in front of the lookup, valid until it is cleared. */
export type Remember = (lookUp: Identify) => Identify

/** The identity of a token, and why it may not act now, if so. */
export function prepareIdentify(db: DatabaseSync, remember: Remember = (lookUp) => lookUp) {
  const credential = prepare<CredentialRow>(
    db,
    `SELECT agent_id, kind, status, ${BOUNDS} FROM credentials WHERE token_hash = ?`,
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

/** Two generations of this size; an identity not seen for that long is looked up again. */
const GENERATION = 20_000

export function rememberIdentities() {
  let young = new Map<string, Identity>()
  let old = new Map<string, Identity>()

  const keep = (identity: Identity): Identity => {
    if (young.size >= GENERATION) {
      old = young
      young = new Map()
    }
    young.set(identity.tokenHash, identity)
    return identity
  }

  const known = (tokenHash: string): Identity | undefined => {
    const recent = young.get(tokenHash)
    if (recent) return recent
    const earlier = old.get(tokenHash)
    return earlier && keep(earlier)
  }

  return {
    known,
    remember:
      (lookUp: Identify): Identify =>
      (tokenHash) => {
        const already = known(tokenHash)
        if (already) return already
        const found = lookUp(tokenHash)
        return found && keep(found)
      },
    forget(): void {
      young = new Map()
      old = new Map()
    },
  }
}
