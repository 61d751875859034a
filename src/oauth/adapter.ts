/**
 * What the library keeps, in our store. A grant is a named key and an access token one of its
 * credentials; a session and an interaction last no longer than the request that they belong to,
 * because the console has its own sessions; everything else is a record. Ids are kept as hashes.
 */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { problem } from '../errors.ts'
import { hashToken } from '../pipeline/tokens.ts'
import type { Access } from '../store/port/keys.ts'
import type { Grant } from '../store/port/oauth.ts'
import { grantId, lasting, type OAuth, recordHash, resourceOf, SCOPES } from './oauth.ts'

const [READ, WRITE] = SCOPES

const scopeOf = (access: Access): string => (access === 'read' ? READ : SCOPES.join(' '))

const accessOf = (scope = ''): Access => (scope.split(' ').includes(WRITE) ? 'write' : 'read')

const grantOf = (id: string | undefined): Grant | undefined => {
  const [agentId, keyId, ...rest] = id?.split('.') ?? []
  return agentId && keyId && rest.length === 0 ? { agentId, keyId } : undefined
}

/** Larger than any that our own limits allow. */
const MOST_CHARS = 65_536

/** What lasts as long as one request. */
export type Kept = Map<string, AdapterPayload>

type Parts = Pick<OAuth, 'records' | 'clock' | 'store'> & {
  readonly issuer: string
  /** Of the request that is being served. */
  readonly kept: () => Kept
}

const notKept = (name: string) => async (): Promise<never> => {
  throw new Error(`${name} is not kept`)
}

const nothing = async (): Promise<undefined> => undefined

const none = { findByUserCode: nothing, findByUid: nothing } as const

function inRequest(name: string, { kept }: Parts): Adapter {
  const place = (id: string): string => `${name} ${id}`
  return {
    ...none,
    upsert: async (id, payload) => void kept().set(place(id), payload),
    find: async (id) => kept().get(place(id)),
    consume: notKept(name),
    destroy: async (id) => void kept().delete(place(id)),
    revokeByGrantId: notKept(name),
  }
}

function grants({ records, clock, issuer }: Parts): Adapter {
  const seconds = (ms: number): number => Math.floor(ms / 1000)
  return {
    ...none,
    upsert: notKept('Grant'),
    async find(id) {
      const grant = grantOf(id)
      const key = grant && (await records.findGrant(grant, clock()))
      if (!grant || !key?.client) return undefined
      return {
        jti: id,
        kind: 'Grant',
        accountId: grant.agentId,
        clientId: key.client.id,
        iat: seconds(key.createdAt),
        // The library needs an end; what has none ends when it is not used.
        exp: seconds(key.grantedUntil ?? clock() + lasting.grant),
        resources: { [resourceOf(issuer)]: scopeOf(key.access) },
      }
    },
    consume: notKept('Grant'),
    async destroy(id) {
      const grant = grantOf(id)
      if (grant) await records.endGrant(grant, clock())
    },
    revokeByGrantId: notKept('Grant'),
  }
}

function accessTokens({ records, clock, store, issuer }: Parts): Adapter {
  async function find(id: string): Promise<AdapterPayload | undefined> {
    const { key, agentId, audience } = (await store.identify(hashToken(id))) ?? {}
    if (!audience || !key?.client || !agentId) return undefined
    return {
      jti: id,
      kind: 'AccessToken',
      accountId: agentId,
      clientId: key.client.id,
      grantId: grantId({ agentId, keyId: key.id }),
      aud: resourceOf(issuer),
      scope: scopeOf(key.access),
      exp: Math.floor((key.expiresAt ?? 0) / 1000),
    }
  }
  return {
    ...none,
    async upsert(id, { grantId: of, scope, clientId = '' }, expiresIn = 0) {
      const grant = grantOf(of)
      const now = clock()
      const keyExpiresAt = now + lasting.grant
      const issued =
        grant &&
        (await records.issueAccess(
          {
            grant,
            tokenHash: hashToken(id),
            access: accessOf(scope),
            expiresAt: now + expiresIn * 1000,
            keyExpiresAt,
          },
          now,
        ))
      if (!issued) throw new errors.InvalidGrant('the grant has ended')
      // The client stays known for as long as the grant.
      for (const kind of ['Client', 'ClientDocument']) {
        await records.prolongRecord(recordHash(kind, clientId), keyExpiresAt + lasting.registration)
      }
    },
    find,
    consume: notKept('AccessToken'),
    async destroy(id) {
      const grant = grantOf((await find(id))?.grantId)
      if (grant) await records.endAccess(grant, hashToken(id))
    },
    async revokeByGrantId(id) {
      const grant = grantOf(id)
      if (grant) await records.endAccess(grant)
    },
  }
}

/**
 * So long after its use a code or a refresh token is one that was sent twice: refused, as by
 * `consume`, and no more. Later it is one that somebody took, and its grant ends.
 */
const SENT_TWICE_MS = 10_000

function inRecords(kind: string, { records, clock }: Parts): Adapter {
  const at = (id: string): string => recordHash(kind, id)
  return {
    ...none,
    async upsert(id, { jti: _, ...payload }, expiresIn) {
      const now = clock()
      const text = JSON.stringify(payload)
      if (text.length > MOST_CHARS) throw problem('body_too_large')
      const ms = expiresIn === undefined ? lasting.registration : expiresIn * 1000
      const grant = grantOf(payload.grantId)
      await records.keepRecord(
        { idHash: at(id), kind, grant, payload: text, expiresAt: now + ms },
        now,
      )
    },
    async find(id) {
      const found = await records.findRecord(at(id), clock())
      if (!found) return undefined
      const payload: AdapterPayload = JSON.parse(found.payload)
      const { consumedAt = Number.POSITIVE_INFINITY } = found
      const isTaken = consumedAt <= clock() - SENT_TWICE_MS
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

export const adapterOf =
  (parts: Parts) =>
  (name: string): Adapter => {
    if (name === 'Session' || name === 'Interaction') return inRequest(name, parts)
    if (name === 'Grant') return grants(parts)
    return name === 'AccessToken' ? accessTokens(parts) : inRecords(name, parts)
  }
