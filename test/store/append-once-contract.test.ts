/** An append that is sent again with its key is made once, on every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { KNOWN_EVENTS, KNOWN_MS } from '../../src/store/port/memories.ts'
import type { Store } from '../../src/store/port/store.ts'
import { stores, type TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { type Asked, connect } from './connected.ts'
import { NOON, newBirth, noLimits } from './fixture.ts'

describe.each(stores)('keyed appends on $name', (engine) => {
  let database: TestDatabase
  let store: Store
  let sql: Asked
  beforeAll(async () => {
    database = await engine.fresh()
    store = await openStore(database.url, NOON, unbounded)
    sql = await connect(database)
  })
  afterAll(async () => {
    await sql.end()
    await store.close()
    await database.drop()
  })

  async function born() {
    const birth = newBirth()
    await store.bear(birth, noLimits, NOON)
    const identified = async (hash: string): Promise<Identity> => {
      const identity = await store.identify(hash)
      if (!identity) throw new Error('a token is not known')
      return identity
    }
    const agent = await identified(birth.agentTokenHash)
    return { agent, operator: await identified(birth.operatorTokenHash) }
  }

  const append = (text: string, expectedVersion?: number) =>
    ({ verb: 'append', id: randomUUID(), key: 'log', text, maxBytes: 40, expectedVersion }) as const

  const once = (
    identity: Identity,
    keyHash: string,
    text: string,
    { now = NOON, expectedVersion }: { now?: number; expectedVersion?: number } = {},
  ) =>
    store.appendOnce(
      identity,
      append(text, expectedVersion),
      { keyHash, fingerprint: `of ${text}` },
      now,
    )

  const textOf = async (identity: Identity) => {
    const found = await store.readMemory(identity, 'log')
    return found.outcome === 'found' ? found.memory.text : found.outcome
  }

  async function rows({ agentId }: Identity): Promise<number> {
    const [row] = await sql.ask(
      `SELECT count(*) AS rows FROM keyed_appends WHERE agent_id = '${agentId}'`,
    )
    return Number(row?.rows)
  }

  test('the first makes it, those after it are answered alike, whatever came between', async () => {
    const { agent } = await born()
    const made = await once(agent, 'a', 'x')
    if (made.outcome !== 'changed' || made.results[0]?.outcome !== 'saved') {
      throw new Error(`the append was ${made.outcome}`)
    }
    const { text: _, metadata: __, ...memory } = made.results[0].memory
    expect(await once(agent, 'b', 'y', { now: NOON + 1 })).toMatchObject({ outcome: 'changed' })
    expect(await once(agent, 'a', 'x', { now: NOON + 2 })).toEqual({ outcome: 'repeated', memory })
    expect(await textOf(agent)).toBe('xy')
  })

  test('of many at once one makes it', async () => {
    const { agent } = await born()
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => once(agent, 'a', 'x').then(({ outcome }) => outcome)),
    )
    expect(answers.toSorted()).toEqual(['changed', ...Array(31).fill('repeated')])
    expect(await textOf(agent)).toBe('x')
    expect(await rows(agent)).toBe(1)
  })

  test('a key says nothing of another text, nor of another home', async () => {
    const [{ agent }, other] = [await born(), await born()]
    await once(agent, 'a', 'x')
    expect(await once(agent, 'a', 'y')).toEqual({ outcome: 'key_reused' })
    expect(await textOf(agent)).toBe('x')
    expect(await once(other.agent, 'a', 'y')).toMatchObject({ outcome: 'changed' })
  })

  test('what was refused is judged anew', async () => {
    const { agent, operator } = await born()
    expect(await once(agent, 'a', 'x', { expectedVersion: 1 })).toMatchObject({
      outcome: 'unchanged',
    })
    expect(await once(agent, 'b', 'x'.repeat(41))).toMatchObject({
      faults: [{ fault: { outcome: 'too_large' } }],
    })
    expect(await rows(agent)).toBe(0)
    await once(agent, 'c', 'z')
    expect(await once(agent, 'a', 'x', { expectedVersion: 1 })).toMatchObject({
      outcome: 'changed',
    })
    await store.setStatus(operator, 'paused', NOON)
    expect(await once(agent, 'c', 'z')).toEqual({ outcome: 'paused' })
  })

  test('a day later it is another append', async () => {
    const { agent } = await born()
    await once(agent, 'a', 'x')
    expect(await once(agent, 'a', 'x', { now: NOON + KNOWN_MS - 1 })).toMatchObject({
      outcome: 'repeated',
    })
    expect(await once(agent, 'a', 'x', { now: NOON + KNOWN_MS })).toMatchObject({
      outcome: 'changed',
    })
    expect(await textOf(agent)).toBe('xx')
  })

  test('those of a home are bounded, and the oldest go a few at a time', async () => {
    const { agent } = await born()
    const add = (event: string, madeAt: number) =>
      sql.ask(`INSERT INTO keyed_appends (agent_id, event, key_hash, fingerprint, answer, made_at)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 50)
        SELECT '${agent.agentId}', ${event}, 'k' || n, 'f', '{}', ${madeAt} FROM numbers`)
    // The next event is the first.
    await add(`1 - ${KNOWN_EVENTS} - n + 1`, NOON)
    expect(await once(agent, 'k1', 'x')).toMatchObject({ outcome: 'changed' })
    expect(await rows(agent)).toBe(50 + 1 - 20)
    for (let n = 0; n < 2; n++) await once(agent, `again ${n}`, 'x')
    expect(await rows(agent)).toBe(3)
    await sql.ask(`DELETE FROM keyed_appends WHERE agent_id = '${agent.agentId}'`)
    await add(`0 - n`, NOON - KNOWN_MS)
    await once(agent, 'b', 'x')
    expect(await rows(agent)).toBe(50 + 1 - 20)
  })

  test('an agent that is erased leaves none', async () => {
    const { agent, operator } = await born()
    await once(agent, 'a', 'x')
    await store.eraseAgent(operator, NOON)
    expect(await rows(agent)).toBe(0)
  })
})
