/** What the library stores as records of ours, under the hashes of their ids. */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import type { Grant } from '../store/port/oauth.ts'
import { lasting, type OAuth, recordHash } from './oauth.ts'

export type Records = Pick<OAuth, 'records' | 'clock'>

export const grantOf = (id: string | undefined): Grant | undefined => {
  const [agentId, keyId, ...rest] = id?.split('.') ?? []
  return agentId && keyId && rest.length === 0 ? { agentId, keyId } : undefined
}

const nothing = async (): Promise<undefined> => undefined

export const none = { findByUserCode: nothing, findByUid: nothing } as const

/** How long after its use a code that comes again was sent twice: it is refused, and ends nothing. */
const SENT_TWICE_MS = 10_000

/** What comes again `againMs` after its use, or later, was stolen: the library ends its grant. */
export function inRecords(
  kind: string,
  { records, clock }: Records,
  againMs = SENT_TWICE_MS,
): Adapter {
  const at = (id: string): string => recordHash(kind, id)
  return {
    ...none,
    async upsert(id, { jti: _, ...payload }, expiresIn) {
      const now = clock()
      const ms = expiresIn === undefined ? lasting.registration : expiresIn * 1000
      const grant = grantOf(payload.grantId)
      const kept = { idHash: at(id), kind, grant, payload: JSON.stringify(payload) }
      await records.keepRecord({ ...kept, expiresAt: now + ms }, now)
    },
    async find(id) {
      const found = await records.findRecord(at(id), clock())
      if (!found) return undefined
      const payload: AdapterPayload = JSON.parse(found.payload)
      const { consumedAt = Number.POSITIVE_INFINITY } = found
      const isTaken = consumedAt <= clock() - againMs
      const consumed = isTaken && { consumed: Math.floor(consumedAt / 1000) }
      return { ...payload, ...(kind !== 'Client' && { jti: id }), ...consumed }
    },
    async consume(id) {
      // Of two at once, one is too late: it gets nothing, and the other's tokens stand.
      if (!(await records.consumeRecord(at(id), clock()))) {
        throw new errors.InvalidGrant('already used')
      }
    },
    destroy: (id) => records.dropRecord(at(id)),
    async revokeByGrantId(id) {
      const grant = grantOf(id)
      if (grant) await records.dropRecordsOf(grant, kind)
    },
  }
}
