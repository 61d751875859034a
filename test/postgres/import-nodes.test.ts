/** Imports and rollbacks with several nodes: one goes on with each, another only once that has ended. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OutcomeUnknown, StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { ImportOrder } from '../../src/store/port/transfer.ts'
import { verifyServer } from '../../src/store/postgres/check/verify.ts'
import { statement, unprepared } from '../../src/store/postgres/engine/connections.ts'
import { readVerbs } from '../../src/store/postgres/engine/run.ts'
import { batchStore } from '../../src/store/postgres/memories/transactions.ts'
import { logStatements } from '../../src/store/postgres/memories/versions.ts'
import { settling } from '../../src/store/settle.ts'
import { allReads } from '../../src/store/verbs/verbs.ts'
import { processTimers } from '../../src/timers.ts'
import { manualTimers } from '../manual-timers.ts'
import { NOON, openFixture, type StoreFixture } from '../store/fixture.ts'
import { kept } from '../store/kept.ts'
import { unhold } from '../store/unhold.ts'
import { unbounded } from '../unbounded.ts'
import { connectTo, type Opened, openBeside } from './opened.ts'

const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

let opened: Opened
/** Another node on the same database. */
let beside: StoreFixture
beforeAll(async () => {
  opened = await openBeside(2)
  const same = { ...opened.database, drop: async () => {}, directory: async () => '' }
  beside = await openFixture({ name: 'postgres', fresh: async () => same })
})
afterAll(async () => {
  await beside.close()
  await opened.close()
})

const silence = () =>
  unhold({ name: 'postgres', fresh: async () => opened.database }, opened.database.url)

const nameOf = (n: number): string => `k${String(n).padStart(3, '0')}`

/** Two batches; `midway` is called once the first is written. */
function source(midway: () => unknown = () => {}) {
  let reads = 0
  async function* versions() {
    const isWritten = reads++ > 0
    for (let n = 0; n < 150; n++) {
      if (isWritten && n === 120) await midway()
      yield [kept(nameOf(n), 1, 'sent')]
    }
  }
  return { [Symbol.asyncIterator]: versions }
}

const bring = (identity: Identity, midway?: () => unknown, node = opened.fixture) =>
  node.store().importMemories(identity, source(midway), REPLACE, NOON)

const countOf = async (identity: Identity) => {
  const profile = await beside.store().readProfile(identity)
  return profile.outcome === 'profile' ? profile.memoryCount : -1
}

async function lastTypeOf(identity: Identity) {
  const log = await beside.store().eventsAfter(identity, 0, 1_000)
  return log.outcome === 'events' ? log.events.at(-1)?.type : undefined
}

test('what one goes on with another does not take over, nor add to', async () => {
  const { operator } = await opened.fixture.agent()
  const midway = async () => {
    await expect(bring(operator, undefined, beside)).rejects.toThrow(StoreUnavailable)
    await expect(
      beside.store().rollBack(operator, { to: 0, prefix: '', dryRun: false }, NOON),
    ).rejects.toThrow(StoreUnavailable)
  }
  expect(await bring(operator, midway)).toMatchObject({ outcome: 'imported', imported: 150 })
  expect(await countOf(operator)).toBe(150)
})

test('a node that starts leaves alone what another goes on with', async () => {
  const { operator } = await opened.fixture.agent()
  const { agent: other } = await opened.fixture.agent()
  const goOn = statement('UPDATE unfinished SET held_until = held_until + 1')
  const midway = async () => {
    const started = beside.restart()
    // As with the next batch: it is seen to go on.
    const told = setInterval(() => void opened.connections.write(goOn), 100)
    await started.finally(() => clearInterval(told))
    expect(await beside.store().readProfile(other)).toMatchObject({ outcome: 'profile' })
  }
  expect(await bring(operator, midway)).toMatchObject({ outcome: 'imported', imported: 150 })
})

test('what a node is silent about another takes back, and the first does not go on', async () => {
  const { operator } = await opened.fixture.agent()
  const { operator: other } = await opened.fixture.agent()
  const seen: unknown[] = []
  const midway = async () => {
    seen.push(await countOf(operator))
    await silence()
    await bring(operator, undefined, beside)
    await bring(other, undefined, beside)
    seen.push(await countOf(operator))
  }
  await expect(bring(operator, midway)).rejects.toThrow('another process has taken the import back')
  expect(seen).toEqual([100, 150])
  expect([await countOf(operator), await lastTypeOf(operator)]).toEqual([150, 'end_import'])
})

const takeOver = statement(`UPDATE unfinished SET holder = 'another', held_until = held_until + $2
  WHERE agent_id = $1`)

test('one that another has taken over writes nothing more, though that has done nothing yet', async () => {
  const { operator } = await opened.fixture.agent()
  const midway = () => opened.connections.write(takeOver, operator.agentId, 600_000)
  await expect(bring(operator, midway)).rejects.toThrow('another process has taken the import back')
  expect([await countOf(operator), await lastTypeOf(operator)]).toEqual([100, 'import'])
  await opened.connections.write(takeOver, operator.agentId, -1_200_000)
  expect(await bring(operator, undefined, beside)).toMatchObject({ imported: 150 })
  expect((await verifyServer(opened.database.url, processTimers)).faults).toEqual([])
})

const silenceOf = statement('UPDATE unfinished SET held_until = 0 WHERE agent_id = $1')
const lockMemory = statement('SELECT 1 FROM memories WHERE agent_id = $1 AND key = $2 FOR UPDATE')
const waiting = statement<{ found: number }>(`
  SELECT count(*) AS found FROM pg_locks JOIN pg_database d ON d.oid = database OR database IS NULL
  WHERE NOT granted AND d.datname = current_database()`)

test('what a node writes late is not taken over meanwhile, and is gone on with after it', async () => {
  const { operator } = await opened.fixture.agent()
  const { agentId } = operator
  await opened.fixture.write(operator, { key: nameOf(120) })
  const connections = connectTo(opened.database.url, 3)
  const { transact, read } = connections
  const whoWait = async () => (await read(waiting))[0]?.found ?? 0
  let [late, other]: Promise<unknown>[] = []
  /** Another looks while the second of three batches waits, and nothing was heard of it for long. */
  async function holdUp(): Promise<void> {
    const silent = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    late = transact(async (ask) => {
      await ask(lockMemory, agentId, nameOf(120))
      await transact(async (inside) => {
        await inside(silenceOf, agentId)
        held.resolve()
        await silent.promise
      })
      await expect.poll(whoWait).toBeGreaterThan(0)
      other = bring(operator, undefined, beside).catch((error: unknown) => error)
      await expect.poll(whoWait).toBeGreaterThan(1)
    })
    await held.promise
    // Once the batch waits for it.
    void expect.poll(whoWait).toBeGreaterThan(0).then(silent.resolve, silent.reject)
  }
  let reads = 0
  async function* versions() {
    const isWritten = reads++ > 0
    for (let n = 0; n < 250; n++) {
      if (isWritten && n === 150) await holdUp()
      yield [kept(nameOf(n), 1, 'sent')]
    }
  }
  const all = { [Symbol.asyncIterator]: versions }
  const answer = await opened.fixture.store().importMemories(operator, all, REPLACE, NOON)
  expect(answer).toMatchObject({ outcome: 'imported', imported: 250 })
  await late
  await other
  await connections.close()
  expect(await countOf(operator)).toBe(250)
})

const heldUntil = statement<{ held_until: number }>(
  'SELECT held_until FROM unfinished WHERE agent_id = $1',
)
const sooner = statement('UPDATE unfinished SET held_until = held_until - 1 WHERE agent_id = $1')

test('while it is read what has changed, others are told that it is settled', async () => {
  const { operator } = await opened.fixture.agent()
  const { agentId } = operator
  const { connections } = opened
  const manual = manualTimers()
  const reads = readVerbs(connections, allReads(logStatements, 0))
  const store = batchStore(connections, unbounded.home, reads)
  const until = async () => (await connections.read(heldUntil, agentId))[0]?.held_until ?? 0
  const looked: number[] = []
  const settle = settling(
    {
      ...store,
      async eventsBetween(...events) {
        await connections.write(sooner, agentId)
        const before = await until()
        manual.pass(5_000)
        await expect.poll(until).toBeGreaterThan(before)
        looked.push(before)
        return store.eventsBetween(...events)
      },
    },
    manual.timers,
  )
  const versions = [kept('a', 1, 'sent')]
  const begun = await store.writeBatch(
    operator,
    {
      way: { onConflict: 'replace', isRollback: false },
      begin: { type: 'begin_import' },
      brought: [{ key: 'a', versions, found: 1 }],
    },
    NOON,
  )
  if (begun.outcome !== 'imported') throw new Error(begun.outcome)
  await settle.home(agentId, begun.begun)
  expect(looked).not.toEqual([])
  expect([await countOf(operator), await lastTypeOf(operator)]).toEqual([0, 'undo_import'])
  expect(manual.waits()).toEqual([5_000])
})

const refuse = (agentId: string) =>
  unprepared(`
    CREATE FUNCTION refused() RETURNS TRIGGER LANGUAGE plpgsql AS
      'BEGIN RAISE EXCEPTION ''refused''; END';
    CREATE TRIGGER refuse BEFORE INSERT ON log FOR EACH ROW
      WHEN (NEW.agent_id = '${agentId}' AND NEW.operation = 'delete') EXECUTE FUNCTION refused()`)

test('one that cannot be settled keeps no node from its start, and the start says so', async () => {
  const { operator } = await opened.fixture.agent()
  const broken = async () => {
    await opened.connections.write(refuse(operator.agentId))
    throw new RangeError('broken')
  }
  await expect(bring(operator, broken)).rejects.toThrow(OutcomeUnknown)
  await silence()
  await beside.restart()
  expect(beside.store().warnings.join()).toContain('1 home has an import or a rollback')
  await opened.connections.write(unprepared('DROP TRIGGER refuse ON log; DROP FUNCTION refused'))
  await silence()
  await beside.restart()
  expect(beside.store().warnings.join()).not.toContain('settled')
  expect([await countOf(operator), await lastTypeOf(operator)]).toEqual([0, 'undo_import'])
})

const lockHome = statement('SELECT 1 FROM homes WHERE agent_id = $1 FOR UPDATE')

test('a memory that comes back while old deletes are forgotten is not one of them', async () => {
  await opened.fixture.restart({ events: 100 })
  const { operator } = await opened.fixture.agent()
  const names = Array.from({ length: 150 }, (_, n) => nameOf(n))
  const all = names.map(
    (key) => ({ verb: 'write', key, id: key, text: 'x', metadata: '{}' }) as const,
  )
  const store = opened.fixture.store()
  for (const group of [all.slice(0, 75), all.slice(75)]) {
    await store.changeMemories(
      operator,
      group.map((each) => ({ ...each, expectedVersion: 0 })),
      NOON,
    )
    const gone = group.map(({ key }) => ({ verb: 'delete', key, expectedVersion: 1 }) as const)
    await store.changeMemories(operator, gone, NOON)
  }
  let writing: Promise<unknown> | undefined
  let bringing: Promise<unknown> | undefined
  await opened.connections.transact(async (ask) => {
    await ask(lockHome, operator.agentId)
    writing = opened.fixture.write(operator, { key: nameOf(0), expectedVersion: 0 })
    bringing = store.importMemories(operator, source(), REPLACE, NOON)
    await new Promise((done) => setTimeout(done, 100))
  })
  expect([await writing, await bringing]).toMatchObject([{ outcome: 'saved' }, {}])
  expect(await store.readMemory(operator, nameOf(0))).toMatchObject({ outcome: 'found' })
  expect((await verifyServer(opened.database.url, processTimers)).faults).toEqual([])
  await opened.fixture.restart({})
})

const sizeOfLog = statement<{ bytes: number }>("SELECT pg_total_relation_size('log') AS bytes")

test.each([
  { what: 'over the bytes of a home', bounds: { bytes: 100_000 }, outcome: 'over_quota', rows: 67 },
  { what: 'over its memories', bounds: { memories: 10 }, outcome: 'over_quota', rows: 67 },
  { what: 'a conflict at its end', bounds: {}, outcome: 'conflict', rows: 256 },
])('4 MiB that are $what are not written', async ({ bounds, outcome, rows }) => {
  const { operator } = await opened.fixture.agent()
  await opened.fixture.write(operator, { key: 'k255' })
  await opened.fixture.restart(bounds)
  // Of what PostgreSQL can press into nothing it would not tell.
  const text = () => randomBytes(8_000).toString('hex')
  let read = 0
  async function* counted() {
    for (let n = 0; n < 256; n++) {
      read++
      yield [kept(`k${String(n).padStart(3, '0')}`, 1, text())]
    }
  }
  const sent = { [Symbol.asyncIterator]: counted }
  const sizeNow = async () => (await opened.connections.read(sizeOfLog))[0]?.bytes ?? 0
  const before = await sizeNow()
  const order = { onConflict: 'fail', dryRun: false } as const
  const answer = await opened.fixture.store().importMemories(operator, sent, order, NOON)
  await opened.fixture.restart()
  expect(answer.outcome).toBe(outcome)
  expect((await sizeNow()) - before).toBeLessThan(65_536)
  expect(read).toBeLessThanOrEqual(rows)
})

test('what a node has left is taken back by the others without being asked', async () => {
  const { operator } = await opened.fixture.agent()
  const cut = async () => {
    await opened.fixture.restart({}, silence)
    throw new RangeError('ended')
  }
  await expect(bring(operator, cut)).rejects.toThrow('ended')
  while ((await lastTypeOf(operator)) !== 'undo_import') {
    await new Promise((done) => setTimeout(done, 50))
  }
  expect(await countOf(operator)).toBe(0)
})
