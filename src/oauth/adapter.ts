/**
 * What the library keeps, in our store. A grant is a named key and an access token one of its
 * credentials; a session and an interaction last no longer than the request that they belong to,
 * because the console has its own sessions; everything else is a record. Ids are kept as hashes.
 */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import { hashToken } from '../pipeline/tokens.ts'
import type { Access } from '../store/port/identity.ts'
import { grantId, lasting, type OAuth, recordHash, resourceOf, SCOPES } from './oauth.ts'
import { grantOf, inRecords, none } from './records.ts'
import { type RefreshParts, refreshTokens } from './refresh-tokens.ts'

const [READ, WRITE] = SCOPES

const scopeOf = (access: Access): string => (access === 'read' ? READ : SCOPES.join(' '))

const accessOf = (scope = ''): Access => (scope.split(' ').includes(WRITE) ? 'write' : 'read')

/** What lasts as long as one request. */
export type Kept = Map<string, AdapterPayload>

type Parts = RefreshParts &
  Pick<OAuth, 'store'> & {
    readonly issuer: string
    /** Of the request that is being served. */
    readonly kept: () => Kept
    /** A grant that the current request ends was stolen from: a code or a token came again. */
    readonly isTheft: () => boolean
  }

const notKept = (name: string) => async (): Promise<never> => {
  throw new Error(`${name} is not kept`)
}

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

function grants({ records, clock, issuer, isTheft }: Parts): Adapter {
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
      if (grant) await records.endGrant(grant, clock(), isTheft())
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

export const adapterOf =
  (parts: Parts) =>
  (name: string): Adapter => {
    if (name === 'Session' || name === 'Interaction') return inRequest(name, parts)
    if (name === 'Grant') return grants(parts)
    if (name === 'RefreshToken') return refreshTokens(parts)
    return name === 'AccessToken' ? accessTokens(parts) : inRecords(name, parts)
  }
