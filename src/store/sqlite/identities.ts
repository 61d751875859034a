/**
 * Whom tokens speak for, remembered so that a known token costs no look-up. Exact, for this process
 * alone writes to its database: every change of a credential or a status forgets all before it is
 * answered, which is rare and cheaper than knowing what to forget.
 */
import type { DatabaseSync } from 'node:sqlite'
import { refusalOf } from '../answers.ts'
import { BOUNDS, type CredentialRow, identityOf } from '../credentials.ts'
import type { Identity, Refused } from '../port/home.ts'
import { prepare } from './engine/connection.ts'

export type Identify = (tokenHash: string) => Identity | undefined

/** May answer for a token without asking the database, as long as the answer is true. */
export type Remember = (lookUp: Identify) => Identify

/** Who bears a token, and why an identity may not act now, if it may not. */
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

/** Two generations of this many are kept; an identity not met for that long is looked up again. */
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
