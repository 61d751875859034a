/** What another does between the statements of one verb: arranged, not left to luck. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { logEvents } from '../../src/store/memory-writes.ts'
import type { Connections } from '../../src/store/postgres/engine/connections.ts'
import { run } from '../../src/store/postgres/engine/run.ts'
import { homeLog } from '../../src/store/postgres/memories/home-log.ts'
import { prune } from '../../src/store/postgres/memories/prune.ts'
import { changeVerbs } from '../../src/store/postgres/memories/transactions.ts'
import { writeVerb } from '../../src/store/postgres/memories/write-memory.ts'
import { doneBy } from '../../src/store/verbs/controls.ts'
import { NOON, newBirth, newWrite, noLimits, type StoreFixture, tally } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'
import { openBeside } from './opened.ts'

let fixture: StoreFixture
let connections: Connections
let close: () => Promise<void>
let other: pg.Client
beforeAll(async () => {
  const opened = await openBeside(4)
  ;({ fixture, connections, close } = opened)
  other = new pg.Client({ connectionString: opened.database.url })
  await other.connect()
})
afterAll(async () => {
  await other.end()
  await close()
})

const DAY_MS = 86_400_000

const nothing = () => undefined

/** The verbs of a node, in whose reading another is quicker. */
const outrun = (first: () => Promise<unknown>) => {
  const read: Connections['read'] = async (...question) => {
    await first()
    return connections.read(...question)
  }
  const { changeMemories: change } = changeVerbs(connections, unbounded.home)
  return { writeMemory: writeVerb({ ...connections, read }, nothing, unbounded.home, change) }
}

/** Until somebody waits for what `other` holds, or all is over that could wait for it. */
async function somebodyWaits(working?: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  working?.then(over, over)
  const waiting = `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database OR database IS NULL
    WHERE NOT granted AND d.datname = current_database()`
  const waits = () => connections.read({ name: 'waiting', text: waiting })
  while (!isOver && (await waits()).length === 0);
}

/** Does this in a transaction that is committed once the work waits for it. */
async function whileUncommitted<T>(
  statements: readonly (readonly [sql: string, ...values: unknown[]])[],
  work: () => Promise<T>,
): Promise<T> {
  await other.query('BEGIN')
  for (const [sql, ...values] of statements) await other.query(sql, values)
  const working = work()
  await somebodyWaits(working)
  await other.query('COMMIT')
  return working
}

const late = newWrite({ expectedVersion: 5 })

test('a token that is revoked before a conflict is looked at is told that it is', async () => {
  const { agent, operator } = await fixture.agent()
  await fixture.write(agent)
  const { writeMemory } = outrun(() =>
    fixture.store().rotateAgentToken(operator, newBirth().agentTokenHash, NOON),
  )
  expect(await writeMemory(agent, late, NOON)).toEqual({ outcome: 'revoked' })
})

test('an agent that is paused before a conflict is looked at is told that it is', async () => {
  const { agent, operator } = await fixture.agent()
  await fixture.write(agent)
  const { writeMemory } = outrun(() => fixture.store().setStatus(operator, 'paused', NOON))
  expect(await writeMemory(agent, late, NOON)).toEqual({ outcome: 'paused' })
})

test('a conflict that is none by the time that it is looked at is tried again', async () => {
  const { agent } = await fixture.agent()
  await fixture.write(agent)
  const { writeMemory } = outrun(() => fixture.write(agent, { expectedVersion: 1 }))
  const write = newWrite({ text: 'Step 3', expectedVersion: 2 })
  expect(await writeMemory(agent, write, NOON)).toMatchObject({
    outcome: 'saved',
    memory: { version: 3, text: 'Step 3' },
  })
})

test('a memory that another creates meanwhile is a conflict', async () => {
  const { agent } = await fixture.agent()
  const theirs = [
    'UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1',
    `INSERT INTO memories
       (agent_id, key, id, version, created_at, updated_at, deleted, size, pinned, n)
     VALUES ($1, 'plan', 'theirs', 1, 7, 7, false, 8, false, 1)`,
    `INSERT INTO log (agent_id, n, kept, operation, key, version, memory_id, created_at, updated_at,
       bytes, size, metadata, text)
     VALUES ($1, 1, true, 'write', 'plan', 1, 'theirs', 7, 7, 6, 8, '{}', 'theirs')`,
  ].map((sql) => [sql, agent.agentId] as const)
  const answer = await whileUncommitted(theirs, () => fixture.write(agent))
  expect(answer).toEqual({
    outcome: 'conflict',
    currentVersion: 1,
    updatedAt: 7,
    sameContent: false,
  })
  expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 0 })
})

test('a write waits for another in its home, and is made after it', async () => {
  const { agent } = await fixture.agent()
  await fixture.write(agent)
  const theirs = ['UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1', agent.agentId]
  const answer = await whileUncommitted([theirs as [string, string]], () =>
    fixture.write(agent, { expectedVersion: 1 }),
  )
  expect(answer).toMatchObject({ outcome: 'saved', memory: { version: 2 } })
  expect(await fixture.store().eventsAfter(agent, 2, 10)).toMatchObject({
    last: 3,
    events: [{ id: 3, type: 'write', version: 2 }],
  })
})

test('a token that is revoked while a write waits does not write', async () => {
  const { agent } = await fixture.agent()
  const theirs = [
    'DELETE FROM credentials WHERE agent_id = $1',
    'UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1',
  ].map((sql) => [sql, agent.agentId] as const)
  const answer = await whileUncommitted(theirs, () => fixture.write(agent))
  expect(answer).toEqual({ outcome: 'revoked' })
  const left = await other.query('SELECT FROM memories WHERE agent_id = $1', [agent.agentId])
  expect(left.rows).toEqual([])
})

test('a batch reads its home, and who may write there, once no other changes them', async () => {
  const { agent } = await fixture.agent()
  const batch = () =>
    fixture.store().changeMemories(agent, [{ verb: 'write', ...newWrite() }], NOON)
  const counted = 'UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1'
  const answer = await whileUncommitted([[counted, agent.agentId]], batch)
  expect(answer).toMatchObject({ outcome: 'changed' })
  expect(await fixture.store().eventsAfter(agent, 1, 10)).toMatchObject({ last: 2 })
  const revoked = 'DELETE FROM credentials WHERE agent_id = $1'
  expect(await whileUncommitted([[revoked, agent.agentId]], batch)).toEqual({ outcome: 'revoked' })
})

test('a memory is protected as it is once no other changes it', async () => {
  const { agent, operator } = await fixture.agent()
  await fixture.write(agent)
  const theirs = [
    'UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1',
    'UPDATE memories SET version = 2 WHERE agent_id = $1',
  ].map((sql) => [sql, agent.agentId] as const)
  const answer = await whileUncommitted(theirs, () =>
    fixture.store().protectMemory(operator, 'plan', true, NOON),
  )
  expect(answer).toEqual({ outcome: 'done', version: 2 })
})

test('an event is numbered after that of another, also where homes are on several servers', async () => {
  const { agent } = await fixture.agent()
  const counted = 'UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1'
  await whileUncommitted([[counted, agent.agentId]], () =>
    connections.transact((ask) =>
      run(ask, logEvents(homeLog(unbounded.home))(doneBy(agent), 'export', NOON)),
    ),
  )
  expect(await fixture.store().eventsAfter(agent, 1, 10)).toMatchObject({ last: 2 })
})

test('what is pruned waits for its home before it takes a row', async () => {
  const { agent } = await fixture.agent()
  const { agentId } = agent
  for (let n = 0; n < 9; n++) await fixture.write(agent, { expectedVersion: n })
  const grown = { made: [{ key: 'plan', version: 9 }], bytes: 0, deleted: 0 }
  const pruning = () =>
    connections.transact((ask) =>
      run(
        ask,
        prune(
          agentId,
          { ...grown, events: { from: 9, to: 9 } },
          { ...unbounded.home, versions: 1 },
        ),
      ),
    )
  await other.query('BEGIN')
  await other.query('SELECT FROM homes WHERE agent_id = $1 FOR UPDATE', [agentId])
  const pruned = pruning()
  await somebodyWaits(pruned)
  const free = 'SELECT FROM log WHERE agent_id = $1 FOR UPDATE SKIP LOCKED'
  expect((await other.query(free, [agentId])).rowCount).toBe(9)
  await other.query('COMMIT')
  await pruned
  const left = 'SELECT FROM log WHERE agent_id = $1 AND kept'
  expect((await other.query(left, [agentId])).rowCount).toBe(1)
})

test('events that another gives up meanwhile do not come back', async () => {
  const { agent } = await fixture.agent()
  for (let n = 0; n < 9; n++) await fixture.write(agent, { expectedVersion: n })
  const theirs = ['UPDATE homes SET first_event = 6 WHERE agent_id = $1', agent.agentId] as const
  const grown = { made: [], bytes: 0, deleted: 0, events: { from: 0, to: 64 } }
  const bounds = { ...unbounded.home, events: 61 }
  await whileUncommitted([theirs], () =>
    connections.transact((ask) => run(ask, prune(agent.agentId, grown, bounds))),
  )
  expect(await fixture.store().eventsAfter(agent, 9, 1)).toMatchObject({ first: 6, last: 9 })
})

test('calls are counted in one order of agents, whatever order they come in', async () => {
  const agents = [await fixture.agent(), await fixture.agent()].map(({ agent }) => agent.agentId)
  const [last = '', first = ''] = agents.toSorted().toReversed()
  const counted = { day: 1, reads: 1, conflicts: 0, refusals: 0, seenAt: 1 }
  const count = () =>
    fixture.store().countCalls([last, first].map((agentId) => ({ agentId, ...counted })))
  await count()
  await other.query('BEGIN')
  await other.query('UPDATE daily_calls SET reads = 9 WHERE agent_id = $1', [first])
  const counting = count()
  await somebodyWaits(counting)
  // Who waits for the first holds nothing of the last.
  const free = 'SELECT reads FROM daily_calls WHERE agent_id = $1 FOR UPDATE NOWAIT'
  const { rows } = await other.query(free, [last]).finally(() => other.query('COMMIT'))
  expect(rows).toEqual([{ reads: '1' }])
  await counting
})

test('writes that wait for their home leave connections to other homes', async () => {
  const [busy, free] = [await fixture.agent(), await fixture.agent()]
  await other.query('BEGIN')
  await other.query('UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1', [
    busy.agent.agentId,
  ])
  const waiting = Promise.all(
    Array.from({ length: 20 }, (_, i) => fixture.write(busy.agent, { key: `k${i}` })),
  )
  await somebodyWaits()
  expect(await fixture.write(free.agent)).toMatchObject({ outcome: 'saved' })
  await other.query('COMMIT')
  expect(tally(await waiting)).toEqual({ saved: 20 })
})

test('a birth under a key that another bears meanwhile is the other’s', async () => {
  const [mine, theirs] = [newBirth(), newBirth()]
  const added = { agentId: theirs.agentId, fingerprint: 'theirs', salt: 'salt' }
  const answer = await whileUncommitted(
    [
      [
        `INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
         VALUES ($1, 'Echo', 'Is quicker.', 'zerno', 'active', 7, 7)`,
        theirs.agentId,
      ],
      [
        `INSERT INTO births (key_hash, agent_id, fingerprint, salt, created_at)
         VALUES ($1, $2, 'theirs', 'salt', 7)`,
        mine.keyHash,
        theirs.agentId,
      ],
    ],
    () => fixture.store().bear(mine, noLimits, NOON),
  )
  expect(answer).toEqual({ outcome: 'known', birth: { ...added, rotated: false } })
  expect(await fixture.store().identify(mine.agentTokenHash)).toBeUndefined()
})

test('of a birth that fails, the error is told as it is', async () => {
  const { bear } = fixture.store()
  const twice = newBirth()
  const stray = { ...twice, operatorTokenHash: twice.agentTokenHash }
  await expect(bear(stray, noLimits, NOON)).rejects.toThrow('duplicate key')
  const joined = newBirth({ account: { join: 'no such account' } })
  await expect(bear(joined, noLimits, NOON)).rejects.toThrow('the account was deleted')
})

test('the last birth that a limit allows is another’s, who is quicker by less than a commit', async () => {
  const [mine, theirs] = [newBirth({ bornFrom: '192.0.2.7' }), newBirth()]
  const limits = { ...noLimits, perAddress: 1 }
  const answer = await whileUncommitted(
    [
      ["SELECT FROM gates WHERE name = 'births' FOR UPDATE"],
      [
        `INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
         VALUES ($1, 'Echo', 'Is quicker.', 'zerno', 'active', 7, 7)`,
        theirs.agentId,
      ],
      [
        `INSERT INTO births (key_hash, agent_id, fingerprint, salt, born_from, created_at)
         VALUES ($1, $2, 'theirs', 'salt', '192.0.2.7', $3)`,
        theirs.keyHash,
        theirs.agentId,
        NOON,
      ],
    ],
    () => fixture.store().bear(mine, limits, NOON),
  )
  expect(answer).toMatchObject({ outcome: 'over_limit', count: { fromAddress: 1 } })
})

test('an arrival waits for one of another node, and comes after it', async () => {
  const store = fixture.store()
  const theirs = '01ffffff-ffff-7fff-bfff-fffffffffff0'
  const mine = '01a00000-0000-7000-8000-000000000001'
  const left = { feed: 'garden', room: 'shepit-wall', text: 'x', identity: 'a', identityType: 'ai' }
  const id = await whileUncommitted(
    [
      ["SELECT FROM gates WHERE name = 'arrivals' FOR UPDATE"],
      [
        `INSERT INTO entries
           (id, feed, room, identity, identity_type, details, created_at, text, words, bytes)
         VALUES ($1, 'garden', 'shepit-wall', 'b', 'ai', '{}', 7, 'theirs', '', 1)`,
        theirs,
      ],
    ],
    () => store.leaveEntry({ ...left, id: mine, details: '{}', labels: [], createdAt: NOON }),
  )
  expect(id > theirs).toBe(true)
  // Whoever read theirs resumes behind it, and must still be told of mine.
  expect((await store.entriesAfter(theirs, 10, 65_536)).map((each) => each.id)).toEqual([id])
})

test('a birth that no limit counts waits for no other', async () => {
  await other.query('BEGIN')
  await other.query('SELECT FROM gates FOR UPDATE')
  expect(await fixture.store().bear(newBirth(), noLimits, NOON)).toEqual({ outcome: 'born' })
  await other.query('COMMIT')
})

test('a write that the database refuses fails as it is, and is not tried again', async () => {
  const { agent } = await fixture.agent()
  await expect(fixture.write(agent, { text: '\0' })).rejects.toThrow('invalid byte sequence')
})

test('the writes of a day are counted in the home, and filed when it is over', async () => {
  const { agent } = await fixture.agent()
  const { writeMemory, changeMemories } = fixture.store()
  const days = [NOON, NOON + DAY_MS, NOON + DAY_MS, NOON, NOON + 2 * DAY_MS]
  for (const [i, now] of days.entries()) {
    if (i % 2 === 0) await writeMemory(agent, newWrite({ key: `k${i}` }), now)
    else await changeMemories(agent, [{ verb: 'write', ...newWrite({ key: `k${i}` }) }], now)
  }
  const filed = await other.query('SELECT day, writes FROM daily_writes WHERE agent_id = $1', [
    agent.agentId,
  ])
  expect(filed.rows.map(({ writes }) => writes).sort()).toEqual(['2', '2'])
  const homes = await other.query('SELECT day_writes FROM homes WHERE agent_id = $1', [
    agent.agentId,
  ])
  expect(homes.rows).toEqual([{ day_writes: '1' }])
})
