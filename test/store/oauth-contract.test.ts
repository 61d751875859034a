/** What OAuth may rely on, from every engine: its records, and the tokens of granted keys. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { KEYS_PER_AGENT, type NewKey } from '../../src/store/port/keys.ts'
import {
  type Grant,
  type OAuthRecord,
  RECORDS_PER_GRANT,
  type Reuse,
  TOKENS_PER_GRANT,
} from '../../src/store/port/oauth.ts'
import { stores } from '../harness.ts'
import { HOUR_MS, NOON, openFixture, type StoreFixture, tally } from './fixture.ts'

const hash = (): string => (randomUUID() + randomUUID()).replaceAll('-', '')

const client = { id: 'https://client.example/metadata.json', redirectHost: 'client.example' }

const record = (overrides: Partial<OAuthRecord> = {}): OAuthRecord => ({
  idHash: hash(),
  kind: 'RefreshToken',
  payload: '{"scope":"memory:read"}',
  expiresAt: NOON + HOUR_MS,
  ...overrides,
})

describe.each(stores)('OAuth on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())
  const store = () => fixture.store()

  const listed = async (operator: Identity) => {
    const answer = await store().listKeys(operator)
    return answer.outcome === 'keys' ? answer.keys : []
  }

  async function granted(operator: Identity, overrides: Partial<NewKey> = {}) {
    const id = randomUUID()
    const bounds = { id, name: 'Claude', access: 'write', prefix: '', client } as const
    const key = { ...bounds, expiresAt: NOON + HOUR_MS, ...overrides }
    await store().createKey(operator, key, hash(), NOON)
    return { agentId: operator.agentId, keyId: id }
  }

  async function issue(grant: Grant, at = NOON, tokenHash = hash()) {
    const ends = { expiresAt: at + HOUR_MS, keyExpiresAt: at + 90 * HOUR_MS }
    const issued = await store().issueAccess({ grant, tokenHash, access: 'write', ...ends }, at)
    return issued ? tokenHash : undefined
  }

  const known = (tokenHash = '') => store().identify(tokenHash)

  async function seed(grant: Grant) {
    const [token, refresh] = [await issue(grant), record({ grant })]
    await store().keepRecord(refresh, NOON)
    return { token, refresh: () => store().findRecord(refresh.idHash, NOON) }
  }

  test('a record is found until it expires, replaced and dropped', async () => {
    const kept = record()
    await store().keepRecord(kept, NOON)
    const found = (at: number) => store().findRecord(kept.idHash, at)
    expect(await found(NOON + HOUR_MS - 1)).toEqual({
      payload: kept.payload,
      consumedAt: undefined,
    })
    expect(await found(NOON + HOUR_MS)).toBeUndefined()
    await store().keepRecord({ ...kept, payload: '{}', expiresAt: NOON + 9 }, NOON)
    expect(await found(NOON)).toMatchObject({ payload: '{}' })
    expect(await found(NOON + 9)).toBeUndefined()
    await store().prolongRecord(kept.idHash, NOON + 20)
    await store().prolongRecord(kept.idHash, NOON + 5)
    expect(await found(NOON + 19)).toBeDefined()
    await store().dropRecord(kept.idHash)
    expect(await found(NOON)).toBeUndefined()
  })

  test('of many who use a record at once, one does', async () => {
    const kept = record()
    await store().keepRecord(kept, NOON)
    const uses = Array.from({ length: 16 }, () => store().consumeRecord(kept.idHash, NOON + 1))
    const taken = await Promise.all(uses)
    expect(taken.filter(Boolean)).toHaveLength(1)
    expect(await store().findRecord(kept.idHash, NOON)).toMatchObject({ consumedAt: NOON + 1 })
    expect(await store().consumeRecord(hash(), NOON)).toBe(false)
  })

  test('a used record stays used when it is kept again', async () => {
    const kept = record()
    await store().keepRecord(kept, NOON)
    await store().consumeRecord(kept.idHash, NOON)
    await store().keepRecord(kept, NOON)
    expect(await store().consumeRecord(kept.idHash, NOON)).toBe(false)
  })

  test('expired records go as new ones come', async () => {
    const early = NOON - 100 * HOUR_MS
    const old = Array.from({ length: 12 }, () => record({ expiresAt: early + 1 }))
    for (const each of old) await store().keepRecord(each, early)
    await store().keepRecord(record(), NOON)
    const left = await Promise.all(old.map(({ idHash }) => store().findRecord(idHash, early)))
    expect(left.filter(Boolean)).toEqual([])
  })

  test('of a grant so many records of a kind are kept, the last, and as many used ones', async () => {
    const { operator } = await fixture.agent()
    const [grant, other] = [await granted(operator), await granted(operator)]
    const spared = [record({ grant: other }), record({ grant, kind: 'AuthorizationCode' })]
    for (const each of spared) await store().keepRecord(each, NOON)
    const made = Array.from({ length: RECORDS_PER_GRANT + 2 }, (_, n) => ({
      unused: record({ grant, expiresAt: NOON + HOUR_MS + n }),
      used: record({ grant, expiresAt: NOON + HOUR_MS + n }),
    }))
    for (const [n, { used, unused }] of made.entries()) {
      await store().keepRecord(used, NOON)
      await store().consumeRecord(used.idHash, NOON + n)
      await store().keepRecord(unused, NOON)
    }
    const isKept = async ({ idHash }: OAuthRecord) =>
      (await store().findRecord(idHash, NOON)) !== undefined
    const kept = async (which: readonly OAuthRecord[]) => Promise.all(which.map(isKept))
    const expected = made.map((_, n) => n >= 2)
    expect(await kept(made.map(({ used }) => used))).toEqual(expected)
    expect(await kept(made.map(({ unused }) => unused))).toEqual(expected)
    expect(await kept(spared)).toEqual([true, true])
  })

  test('reuses of a grant’s tokens are counted, and an event tells of the first of an hour', async () => {
    const { operator } = await fixture.agent()
    const expiresAt = NOON + 90 * HOUR_MS
    const grant = await granted(operator, { expiresAt })
    const other = await granted(operator)
    const reuse = { grant, idHash: hash(), expiresAt }
    const note = (at: number, more: Partial<Reuse> = {}) =>
      store().noteReuse({ ...reuse, ...more }, at)
    // At once, one of them is the first.
    const soon = { expiresAt: NOON + 1 }
    const notes = await Promise.all(Array.from({ length: 12 }, () => note(NOON, soon)))
    expect(new Set(notes)).toEqual(new Set([true]))
    expect(await note(NOON + HOUR_MS - 1)).toBe(true)
    // The count lasts as long as the last of them says.
    expect(await store().findRecord(reuse.idHash, expiresAt - 1)).toBeDefined()
    const reuses = async () =>
      (await listed(operator)).flatMap(({ id, reused }) => (reused ? [{ id, ...reused }] : []))
    expect(await reuses()).toEqual([{ id: grant.keyId, times: 13, lastAt: NOON + HOUR_MS - 1 }])
    const types = async () => {
      const answer = await store().eventsAfter(operator, 2, 10)
      return answer.outcome === 'events' && answer.events.map(({ type }) => type)
    }
    expect(await types()).toEqual(['reuse_token'])
    expect(await note(NOON + HOUR_MS)).toBe(true)
    const both = ['reuse_token', 'reuse_token']
    expect(await types()).toEqual(both)
    expect(await store().noteReuse({ ...reuse, grant: { ...grant, keyId: 'none' } }, NOON)).toBe(
      false,
    )
    const endings = Array.from({ length: 12 }, () => store().endGrant(grant, NOON, true))
    await Promise.all(endings)
    expect(await note(NOON)).toBe(false)
    expect(await reuses()).toEqual([])
    expect(await types()).toEqual([...both, 'suspect_theft', 'revoke_key'])
    await store().endGrant(other, NOON)
    expect(await types()).toEqual([...both, 'suspect_theft', 'revoke_key', 'revoke_key'])
  })

  test('an access token speaks for its key, at one endpoint, until its own end', async () => {
    const { operator } = await fixture.agent()
    const grant = await granted(operator, { access: 'read', prefix: 'a.' })
    const tokenHash = await issue(grant)
    expect(await known(tokenHash)).toEqual({
      agentId: operator.agentId,
      kind: 'agent',
      tokenHash,
      status: 'active',
      audience: 'mcp',
      key: {
        id: grant.keyId,
        name: 'Claude',
        access: 'read',
        prefix: 'a.',
        expiresAt: NOON + HOUR_MS,
        client,
      },
    })
  })

  test('what is listed and counted is the key alone, with its client', async () => {
    const { operator } = await fixture.agent()
    const grant = await granted(operator, { grantedUntil: NOON + 50 * HOUR_MS })
    await issue(grant)
    await issue(grant, NOON + 1)
    const key = { id: grant.keyId, name: 'Claude', access: 'write', prefix: '', client }
    const expiresAt = NOON + 50 * HOUR_MS
    expect(await listed(operator)).toEqual([
      { ...key, expiresAt, createdAt: NOON, lastUsedAt: undefined },
    ])
    const { grantedUntil } = (await store().findGrant(grant, NOON)) ?? {}
    expect(grantedUntil).toBe(expiresAt)
    const bounds = { name: 'ci', access: 'read', prefix: '', expiresAt: undefined } as const
    const more = Array.from({ length: KEYS_PER_AGENT }, () =>
      store().createKey(operator, { ...bounds, id: randomUUID() }, hash(), NOON),
    )
    expect(tally(await Promise.all(more))).toEqual({ created: KEYS_PER_AGENT - 1, too_many: 1 })
  })

  test('a use of a token is a use of its key', async () => {
    const { operator } = await fixture.agent()
    const identity = await known(await issue(await granted(operator)))
    if (identity) await store().noteUse(identity, NOON + 1)
    expect(await listed(operator)).toMatchObject([{ lastUsedAt: NOON + 1 }])
  })

  test('a token lasts no longer than its key; a key that is used lasts on', async () => {
    const { operator } = await fixture.agent()
    const short = await granted(operator, { grantedUntil: NOON + 5 })
    expect(await known(await issue(short))).toMatchObject({ key: { expiresAt: NOON + 5 } })
    expect(await issue(short, NOON + 5)).toBeUndefined()
    const used = await granted(operator, { expiresAt: NOON + 2 })
    expect(await issue(used, NOON + 1)).toBeDefined()
    expect(await issue(used, NOON + 80 * HOUR_MS)).toBeDefined()
    const unused = await granted(operator, { expiresAt: NOON + 2 })
    expect(await issue(unused, NOON + 2)).toBeUndefined()
    expect(await store().findGrant(unused, NOON + 2)).toBeUndefined()
  })

  test('a key has so many tokens at once: one more ends the oldest, and expired ones go', async () => {
    const { operator } = await fixture.agent()
    const grant = await granted(operator)
    const tokens: (string | undefined)[] = []
    for (let n = 0; n <= TOKENS_PER_GRANT; n++) tokens.push(await issue(grant, NOON + n))
    const stand = async () => (await Promise.all(tokens.map(known))).map((each) => Boolean(each))
    expect(await stand()).toEqual([false, ...tokens.slice(1).map(() => true)])
    await issue(grant, NOON + 2 * HOUR_MS)
    expect(await stand()).toEqual(tokens.map(() => false))
  })

  test('no token is issued for a key of the operator’s, or of nobody', async () => {
    const { operator } = await fixture.agent()
    const own = await granted(operator)
    await store().createKey(
      operator,
      { id: 'ci', name: 'ci', access: 'write', prefix: '', expiresAt: undefined },
      hash(),
      NOON,
    )
    expect(await issue({ ...own, keyId: 'ci' })).toBeUndefined()
    expect(await issue({ ...own, keyId: randomUUID() })).toBeUndefined()
    expect(await issue({ ...own, agentId: randomUUID() })).toBeUndefined()
  })

  test('a key that is ended takes its tokens and records with it, and no others', async () => {
    const { operator } = await fixture.agent()
    const [ended, stays] = [await granted(operator), await granted(operator)]
    const [gone, left] = [await seed(ended), await seed(stays)]
    const answer = await store().endKey(operator, ended.keyId, NOON)
    expect(answer).toMatchObject({ outcome: 'ended', key: { client } })
    expect(await known(gone.token)).toBeUndefined()
    expect(await gone.refresh()).toBeUndefined()
    expect(await issue(ended)).toBeUndefined()
    expect(await known(left.token)).toBeDefined()
    expect(await left.refresh()).toBeDefined()
  })

  test('a rotation ends every grant, and so does an erasure', async () => {
    for (const end of [
      (operator: Identity) => store().rotateAgentToken(operator, hash(), NOON),
      (operator: Identity) => store().eraseAgent(operator, NOON),
    ]) {
      const { operator } = await fixture.agent()
      const grant = await granted(operator)
      const { token, refresh } = await seed(grant)
      await end(operator)
      expect(await known(token)).toBeUndefined()
      expect(await refresh()).toBeUndefined()
      expect(await issue(grant)).toBeUndefined()
    }
  })

  test('a paused agent’s tokens are paused, issued before or after', async () => {
    const { operator } = await fixture.agent()
    const grant = await granted(operator)
    const before = await issue(grant)
    await store().setStatus(operator, 'paused', NOON)
    for (const token of [before, await issue(grant)]) {
      expect(await known(token)).toMatchObject({ status: 'paused' })
    }
  })

  test('a client ends its grant, in its own name, or its tokens alone', async () => {
    const { operator } = await fixture.agent()
    const grant = await granted(operator)
    const [one, other] = [await issue(grant), await issue(grant)]
    await store().endAccess(grant, one)
    expect([await known(one), Boolean(await known(other))]).toEqual([undefined, true])
    await store().endAccess(grant)
    expect(await known(other)).toBeUndefined()
    const { token, refresh } = await seed(grant)
    await store().dropRecordsOf(grant, 'AuthorizationCode')
    expect(await refresh()).toBeDefined()
    await store().endGrant(grant, NOON)
    await store().endGrant(grant, NOON)
    expect(await known(token)).toBeUndefined()
    expect(await refresh()).toBeUndefined()
    expect(await listed(operator)).toEqual([])
    const events = await store().eventsAfter(operator, 0, 10)
    const key = { id: grant.keyId, name: 'Claude' }
    expect(events.outcome === 'events' && events.events.slice(1)).toMatchObject([
      { type: 'revoke_key', by: { as: 'agent', via: 'mcp', key }, namedKey: key },
    ])
  })

  test('no token outlives a key that is ended while it is issued', async () => {
    for (let round = 0; round < 12; round++) {
      const { operator } = await fixture.agent()
      const grant = await granted(operator)
      const [token] = await Promise.all([issue(grant), store().endKey(operator, grant.keyId, NOON)])
      expect(await known(token)).toBeUndefined()
    }
  })
})
