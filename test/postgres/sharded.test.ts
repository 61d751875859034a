/** What a store does where homes are on several servers: the directory of tokens is all it goes by. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { verifyServer } from '../../src/store/postgres/check/verify.ts'
import { countCallsVerb } from '../../src/store/postgres/count-calls.ts'
import type { Ask } from '../../src/store/postgres/engine/session.ts'
import { askTogether } from '../../src/store/postgres/sharded.ts'
import { processTimers } from '../../src/timers.ts'
import {
  exported,
  NOON,
  newBirth,
  newQuery,
  noLimits,
  openFixture,
  type StoreFixture,
} from '../store/fixture.ts'
import { faultsOf } from '../store/statement-rules.ts'
import { cloneDatabase } from './databases.ts'

const script = readFileSync(new URL('../../deploy/citus.sql', import.meta.url), 'utf8')
/** One server can have a directory too. */
const [, directory = ''] = /(CREATE TABLE[\s\S]*?)\n\n/.exec(script) ?? []

let fixture: StoreFixture
let client: pg.Client
let url: string
beforeAll(async () => {
  const database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  url = database.url
  client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(directory)
  const drop = () => client.end().then(database.drop)
  fixture = await openFixture({ name: 'postgres', fresh: async () => ({ ...database, drop }) })
})
afterAll(() => fixture.close())

const rowsOf = async (sql: string) => (await client.query({ text: sql, rowMode: 'array' })).rows

const entered = () => rowsOf('SELECT token_hash, agent_id FROM token_homes ORDER BY 1')

/** What the directory is made of by the script. */
const stored = () =>
  rowsOf(`SELECT token_hash, agent_id FROM credentials
    UNION SELECT replaced_hash, agent_id FROM operator_replacements ORDER BY 1`)

const newKey = () =>
  ({ id: randomUUID(), name: 'k', access: 'write', prefix: '', expiresAt: undefined }) as const

/** Each of these changes what tokens an agent has. */
const changes: Record<string, (operator: Identity) => Promise<unknown>> = {
  'a new key': (operator) => fixture.store().createKey(operator, newKey(), randomUUID(), NOON),
  'a key that ends': async (operator) => {
    const key = newKey()
    await fixture.store().createKey(operator, key, randomUUID(), NOON)
    await fixture.store().endKey(operator, key.id, NOON)
  },
  'an access token': async (operator) => {
    const store = fixture.store()
    const key = { ...newKey(), expiresAt: NOON + 9, client: { id: 'c', redirectHost: 'h' } }
    await store.createKey(operator, { ...key, grantedUntil: NOON + 9 }, randomUUID(), NOON)
    const grant = { agentId: operator.agentId, keyId: key.id }
    const access = { access: 'write', expiresAt: NOON + 5, keyExpiresAt: NOON + 9 } as const
    const tokenHash = randomUUID()
    expect(await store.issueAccess({ grant, ...access, tokenHash }, NOON)).toBe(true)
    expect(await store.identify(tokenHash)).toMatchObject({ agentId: operator.agentId })
    await store.endAccess(grant, tokenHash)
    expect(await store.identify(tokenHash)).toBeUndefined()
    await store.issueAccess({ grant, ...access, tokenHash: randomUUID() }, NOON)
    expect(await entered()).toEqual(await stored())
    await store.endGrant(grant, NOON)
  },
  'a rotation': (operator) => fixture.store().rotateAgentToken(operator, randomUUID(), NOON),
  'a replacement': async (operator) => {
    const token = { tokenHash: randomUUID(), keyHash: randomUUID(), salt: 's' }
    await fixture.store().replaceOperatorToken(operator, token, NOON)
    const found = await fixture.store().findReplacement(operator.tokenHash)
    expect(found).toMatchObject({ agentId: operator.agentId, keyHash: token.keyHash })
  },
  'a reset by the host': ({ agentId }) =>
    fixture.store().resetOperatorToken(agentId, randomUUID(), NOON),
  'an erasure': async (operator) => {
    await fixture.store().eraseAgent(operator, NOON)
    const left = await entered()
    expect(left.filter(([, agentId]) => agentId === operator.agentId)).toEqual([])
  },
}

test.each(Object.keys(changes))('after %s the directory is that of the tokens', async (name) => {
  const { operator } = await fixture.agent()
  const before = await entered()
  expect(before).toEqual(await stored())
  await changes[name]?.(operator)
  expect(await entered()).toEqual(await stored())
})

test('a token that is not in the directory opens nothing', async () => {
  const birth = newBirth()
  await fixture.store().bear(birth, noLimits, NOON)
  await client.query('DELETE FROM token_homes WHERE token_hash = $1', [birth.agentTokenHash])
  expect(await fixture.store().identify(birth.agentTokenHash)).toBeUndefined()
  expect(await fixture.store().identify(birth.operatorTokenHash)).toBeDefined()
  await client.query(directory)
  expect(await fixture.store().identify(birth.agentTokenHash)).toBeDefined()
})

/** What agents and their operators do all day. */
async function live(): Promise<void> {
  const store = fixture.store()
  const account = { id: randomUUID(), email: `${randomUUID()}@example.org`, passwordHash: 'x' }
  const [one, other] = [
    await fixture.agent({ account: { create: account } }),
    await fixture.agent(),
  ]
  const { birth, agent, operator } = one
  for (const identity of [agent, other.agent]) await fixture.write(identity)
  expect(await fixture.write(agent, { expectedVersion: 1 })).toMatchObject({ outcome: 'saved' })
  expect(await fixture.write(agent, { expectedVersion: 1 })).toMatchObject({ outcome: 'conflict' })
  const both = [agent, other.agent].map((identity) => store.readMemory(identity, 'plan'))
  expect((await Promise.all(both)).map(({ outcome }) => outcome)).toEqual(['found', 'found'])
  await store.listMemories(agent, newQuery())
  await store.listVersions(agent, 'plan', undefined, 10)
  await store.readVersion(agent, 'plan', 1)
  await store.eventsAfter(agent, 0, 10)
  expect(await store.recordEvent(agent, 'export', NOON)).toBe(true)
  expect(await exported(store, agent)).toHaveLength(1)
  await store.setStatus(operator, 'paused', NOON)
  await store.readProfile(agent)
  await store.identifyOwner(account.id, agent.agentId)
  expect(await store.findBirth(birth.keyHash)).toMatchObject({ rotated: false })
  expect(await store.findReplacement(birth.operatorTokenHash)).toBeUndefined()
  const seen = [agent, other.agent].map(({ agentId }) => [agentId, 1] as const)
  expect(await store.changedHomes(new Map(seen))).toEqual([agent.agentId])
  await store.countCalls(
    seen.map(([agentId]) => ({ agentId, day: 1, reads: 1, conflicts: 0, refusals: 0, seenAt: 1 })),
  )
  await store.eraseMemory(operator, 'plan', 'all', NOON)
  await store.eraseAgent(operator, NOON)
}

test('what homes do all day is asked of the server of each', async () => {
  const query = vi.spyOn(pg.Client.prototype, 'query')
  await live()
  const texts = query.mock.calls.map(([sent]) => (sent as unknown as { text?: string }).text ?? '')
  query.mockRestore()
  expect(texts.length).toBeGreaterThan(60)
  expect(texts.filter((text) => faultsOf(text).length > 0)).toEqual([])
})

test('homes whose server is down are left out, and where one keeps all homes nothing is', async () => {
  const ask = async (homes: readonly string[]) => {
    if (homes.includes('down')) throw new Error('no connection')
    return homes
  }
  expect(await askTogether(true, ['a', 'down', 'b'], ask)).toEqual(['a', 'b'])
  await expect(askTogether(false, ['a', 'down', 'b'], ask)).rejects.toThrow('no connection')
})

test('a search asks the server of its home as well', async () => {
  const { agent } = await fixture.agent()
  for (const key of ['a', 'b']) await fixture.write(agent, { key })
  const answer = await fixture.store().searchMemories(agent, { q: 'step', prefix: '', limit: 2 })
  expect(answer).toMatchObject({ hits: [{ key: 'a' }, { key: 'b' }] })
  const asked = await rowsOf(`SELECT query FROM pg_stat_activity
    WHERE application_name = 'agent-home search' AND datname = current_database()`)
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.filter(([query]) => faultsOf(query).length > 0)).toEqual([])
})

test('calls are counted, and days forgotten, of the homes whose server is up', async () => {
  const asked: unknown[] = []
  const write: Ask = async (_, agents) => {
    if (Array.isArray(agents) && agents.includes('down')) throw new Error('no connection')
    asked.push(agents)
    return []
  }
  const counts = { day: 1, reads: 1, conflicts: 0, refusals: 0, seenAt: 1 }
  const calls = ['down', 'up'].map((agentId) => ({ agentId, ...counts }))
  await countCallsVerb({ write }, true)(calls)
  expect(asked).toEqual([['up'], ['up']])
})

test('events of what is no version are chained one after the other', async () => {
  const { agent, operator } = await fixture.agent()
  for (const key of ['a', 'b']) {
    await fixture.write(agent, { key })
    const answer = await fixture.store().protectMemory(operator, key, true, NOON)
    expect(answer).toMatchObject({ outcome: 'done' })
  }
  const { faults } = await verifyServer(url, processTimers)
  expect(faults.filter(({ fault }) => fault.includes('chain'))).toEqual([])
})

test('the reference to accounts, which are elsewhere, is not missed', async () => {
  const missing = 'the schema is not the one that this program makes'
  await client.query('ALTER TABLE agents DROP CONSTRAINT agents_account_id_fkey')
  const faults = async () => (await verifyServer(url, processTimers)).faults
  expect(await faults()).not.toContainEqual(expect.objectContaining({ fault: missing }))
  await client.query('DROP TABLE token_homes')
  expect(await faults()).toContainEqual(expect.objectContaining({ fault: missing }))
})
