/** A move is all or nothing: what arrives otherwise than it left is not taken. */
import { writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect, inject, test } from 'vitest'
import { copyDatabase, verifyDatabase } from '../../src/store/maintenance.ts'
import type { Moved } from '../../src/store/move/digests.ts'
import { move } from '../../src/store/move/move.ts'
import { openStore } from '../../src/store/open.ts'
import { StoreRefused } from '../../src/store/port/errors.ts'
import {
  openConnections,
  statement,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { writeVerbs } from '../../src/store/postgres/engine/run.ts'
import { SCHEMA } from '../../src/store/schema.ts'
import { agentErasure } from '../../src/store/verbs/agents.ts'
import { processTimers } from '../../src/timers.ts'
import { released } from '../fixtures/released.ts'
import { embedded } from '../harness.ts'
import { eventsOf } from '../store/chained.ts'
import { NOON, newQuery, openFixture, type StoreFixture } from '../store/fixture.ts'
import { REPLACE, sourceOf } from '../store/import-work.ts'
import { kept } from '../store/kept.ts'
import { unbounded } from '../unbounded.ts'
import { cloneDatabase } from './databases.ts'

/** A row that a server changes as it takes it. */
const changing = [
  `CREATE FUNCTION change() RETURNS TRIGGER LANGUAGE plpgsql AS
     $$ BEGIN NEW.text := replace(NEW.text, 'kept', 'lost'); RETURN NEW; END $$`,
  'CREATE TRIGGER change BEFORE INSERT ON log FOR EACH ROW EXECUTE FUNCTION change()',
].map((sql) => unprepared(sql))

const counts = statement<{ agents: number; log: number }>(
  'SELECT (SELECT count(*) FROM agents) AS agents, (SELECT count(*) FROM log) AS log',
)
const vectors = statement<{ vector: Buffer }>('SELECT vector FROM vectors')

test('a text that arrives otherwise than it left ends the move, with nothing moved', async () => {
  const source = await embedded.fresh()
  const fixture = await openFixture({ ...embedded, fresh: async () => source })
  const { agent } = await fixture.agent()
  await fixture.write(agent, { text: 'what is kept' })
  const vector = { key: 'plan', version: 1, vector: Float32Array.of(0.6, 0.8) }
  await fixture.store().storeVectors(agent, 'm', [vector])
  await fixture.store().close()
  const target = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  const connections = openConnections(hostsOf(target.url), 1, 'agent-home test', {
    timers: processTimers,
  })
  for (const each of changing) await connections.write(each)

  const moving = move(source.url, target.url, NOON, processTimers, () => {})
  await expect(moving).rejects.toThrow('log did not arrive as it left. Nothing was moved.')
  await expect(moving).rejects.toBeInstanceOf(StoreRefused)
  expect(await connections.read(counts)).toEqual([{ agents: 0, log: 0 }])

  await connections.write(unprepared('DROP FUNCTION change CASCADE'))
  await move(source.url, target.url, NOON, processTimers, () => {})
  expect(await connections.read(counts)).toEqual([{ agents: 1, log: 1 }])
  const [moved] = await connections.read(vectors)
  expect(moved?.vector).toEqual(Buffer.from(vector.vector.buffer))
  await connections.close()
  await Promise.all([source.drop(), target.drop()])
})

test('of an agent whose erasure has not ended nothing goes over', async () => {
  const source = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  const target = await embedded.fresh()
  const fixture = await openFixture({ name: 'postgres', fresh: async () => ({ ...source }) })
  const [gone, stays] = [await fixture.agent(), await fixture.agent()]
  const vector = { key: 'plan', version: 1, vector: Float32Array.of(0.6, 0.8) }
  for (const { agent } of [gone, stays]) {
    await fixture.write(agent)
    await fixture.store().storeVectors(agent, 'm', [vector])
  }
  await fixture.store().close()
  // Not a node's, which the move would not begin beside.
  const connections = openConnections(hostsOf(source.url), 1, 'eraser', {
    timers: processTimers,
  })
  // As a node that ends then leaves it.
  await writeVerbs(connections, agentErasure).eraseAgent(gone.operator)
  expect(await connections.read(vectors)).toHaveLength(2)
  await connections.close()
  const moved = await move(source.url, target.url, NOON, processTimers, () => {})
  for (const table of ['memories', 'vectors', 'log', 'homes']) {
    expect(moved).toContainEqual(expect.objectContaining({ table, rows: 1 }))
  }
  expect((await verified(target.url)).faults).toEqual([])
  // The day goes on: what it counts so far is still in the home.
  const arrived = await openStore(target.url, NOON, unbounded)
  expect(await arrived.readActivity(stays.operator, 0)).toMatchObject({ days: [{ writes: 1 }] })
  await arrived.close()
  await Promise.all([source.drop(), target.drop()])
})

test('a file that a newer program has changed is refused, and let go', async () => {
  const source = await embedded.fresh()
  await (await openStore(source.url, NOON, unbounded)).close()
  const file = new DatabaseSync(source.url.replace('sqlite:', ''))
  file.exec(`UPDATE schema_version SET version = ${SCHEMA + 1}, oldest = ${SCHEMA}`)
  file.close()
  const moving = move(source.url, 'postgres://127.0.0.1:1/home', NOON, processTimers, () => {})
  await expect(moving).rejects.toThrow('was changed by a newer program')
  await (await openStore(source.url, NOON, unbounded)).close()
  await source.drop()
})

/** More than is fetched at once. */
const MANY = 501
/** Twice what is on its way at once. */
const LARGE = 130

test('more rows than are fetched at once go over, and back only as they are', async () => {
  const [source, back, again] = await Promise.all([1, 2, 3].map(() => embedded.fresh()))
  if (!source || !back || !again) throw new Error('no files')
  const fixture = await openFixture({ ...embedded, fresh: async () => source })
  const { agent } = await fixture.agent()
  const append = { verb: 'append', id: 'log', key: 'log', text: 'kept', maxBytes: 9_999 } as const
  for (let left = MANY; left > 0; left -= 100) {
    const some = Array.from({ length: Math.min(100, left) }, () => append)
    await fixture.store().changeMemories(agent, some, NOON)
  }
  for (let n = 0; n < LARGE; n++) {
    await fixture.write(agent, { key: `k${n}`, text: 'x'.repeat(16_000) })
  }
  await fixture.store().close()
  const target = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  const rowsOf = (moved: readonly Moved[]) => moved.find(({ table }) => table === 'log')?.rows
  const steps: string[] = []
  const progress = (table: string) => void steps.push(table)
  const over = await move(source.url, target.url, NOON, processTimers, progress)
  expect(rowsOf(over)).toBe(MANY + LARGE)
  expect(steps.filter((table) => table === 'log').length).toBeLessThan(6)
  expect(over).toContainEqual(expect.objectContaining({ table: 'daily_writes', rows: 1 }))

  await (await openStore(back.url, NOON, unbounded)).close()
  const file = back.url.replace('sqlite:', '')
  const changing = new DatabaseSync(file)
  changing.exec(`CREATE TRIGGER change AFTER INSERT ON log BEGIN
    UPDATE log SET text = replace(text, 'kept', 'lost') WHERE rowid = NEW.rowid; END`)
  changing.close()
  const moving = move(target.url, back.url, NOON, processTimers, () => {})
  await expect(moving).rejects.toThrow('log did not arrive as it left. Nothing was moved.')
  const left = new DatabaseSync(file)
  expect(left.prepare('SELECT count(*) AS rows FROM log').get()).toEqual({ rows: 0 })
  left.close()

  expect(await move(target.url, again.url, NOON, processTimers, () => {})).toEqual(over)
  const odd = new DatabaseSync(again.url.replace('sqlite:', ''))
  odd.exec('CREATE TABLE other (x)')
  odd.close()
  const odder = move(again.url, target.url, NOON, processTimers, () => {})
  await expect(odder).rejects.toThrow('a table that this program cannot move: other.')
  await Promise.all([source, back, again, target].map(({ drop }) => drop()))
})

test('what an import brought goes over as it is, and back', async () => {
  const [source, back, again] = await Promise.all([
    cloneDatabase(inject('postgresUrl'), inject('postgresTemplate')),
    embedded.fresh(),
    cloneDatabase(inject('postgresUrl'), inject('postgresTemplate')),
  ])
  const onServer = await openFixture({ name: 'postgres', fresh: async () => ({ ...source }) })
  const { agent, operator } = await onServer.agent()
  const versions = ['one', 'two', 'three'].map((text, at) => kept('a', at + 1, text))
  const bring = (fixture: StoreFixture, key: string) => {
    const all = sourceOf(() => versions.map((each) => ({ ...each, key, madeAs: 'before' })))
    return fixture.store().importMemories(operator, all, REPLACE, NOON)
  }
  const brought = { outcome: 'imported', imported: 1 }
  expect(await bring(onServer, 'a')).toMatchObject(brought)
  await onServer.store().eraseMemory(operator, 'a', [1], NOON)
  await onServer.write(agent, { key: 'a', text: 'four', expectedVersion: 3 })
  const order = { to: 6, prefix: '', dryRun: false }
  expect(await onServer.store().rollBack(operator, order, NOON)).toMatchObject({ restored: 1 })
  await onServer.store().close()
  const over = await move(source.url, back.url, NOON, processTimers, () => {})
  expect(await move(back.url, again.url, NOON, processTimers, () => {})).toEqual(over)

  const inFile = await openFixture({ ...embedded, fresh: async () => back })
  expect(await bring(inFile, 'b')).toMatchObject(brought)
  expect(await inFile.store().readMemory(agent, 'a')).toMatchObject({ memory: { text: 'three' } })
  expect(await inFile.store().readVersion(agent, 'a', 2)).toMatchObject({ memory: { text: 'two' } })
  await inFile.store().close()
  for (const place of [back.url.replace('sqlite:', ''), again.url]) {
    expect((await verifyDatabase(place, processTimers, () => {})).faults).toEqual([])
  }
  await Promise.all([source.drop(), back.drop(), again.drop()])
})

/** No node of an older program is waited for. */
const hasty = { ...processTimers, pause: async () => {} }

const verified = (url: string) =>
  verifyDatabase(url.replace('sqlite:', ''), processTimers, () => {})

const OF_BOTH = 'agent_id, id, key, renamed_from, version'

const OF_A_VERSION = `operation, previous, memory_id, created_at, bytes, size, salt, metadata, text`

/** What an import brought is apart from its event, as a move from a server before schema 27 left it. */
const apart = `
  INSERT INTO log (${OF_BOTH}, author, updated_at, content, ${OF_A_VERSION})
    SELECT ${OF_BOTH}, author, updated_at, content, ${OF_A_VERSION} FROM log
    WHERE event_author IS NOT NULL;
  INSERT INTO log_index SELECT agent_id, id, n FROM log WHERE event IS NULL AND id > 0;
  UPDATE memories SET n = v.n FROM log l JOIN log v ON v.agent_id = l.agent_id AND v.id = l.id
    WHERE l.n = memories.n AND l.event_author IS NOT NULL AND v.event IS NULL;
  UPDATE log SET (${OF_A_VERSION}) = (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    author = event_author, updated_at = coalesce(happened_at, updated_at), event_author = NULL,
    happened_at = NULL WHERE event_author IS NOT NULL`

test.each(released.filter(({ name }) => name.startsWith('2.0.0')))(
  'what an import brought into $name goes over, and back',
  async ({ fresh, name }) => {
    const source = await fresh()
    const empty = () => cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
    const isFile = name.endsWith('sqlite')
    const ways = isFile ? [empty, embedded.fresh, empty] : [embedded.fresh, empty, embedded.fresh]
    const dropped = [source]
    let [moved, found]: unknown[] = []
    for (const [at, way] of ways.entries()) {
      const [from, to] = [dropped[at]?.url ?? '', await way()]
      dropped.push(to)
      const rows = await move(from, to.url, NOON, hasty, () => {})
      const { faults, counts, unproven } = await verified(to.url)
      expect([rows, faults]).toEqual([moved ?? rows, []])
      expect({ counts, unproven }).toEqual(found ?? { counts, unproven })
      ;[moved, found] = [rows, { counts, unproven }]
      if (!to.url.startsWith('sqlite:')) continue
      const file = new DatabaseSync(to.url.replace('sqlite:', ''))
      file.exec(apart)
      file.close()
      expect((await verified(to.url)).faults).toEqual([])
    }
    await Promise.all(dropped.map(({ drop }) => drop()))
  },
)

test('an import that has not ended goes over as such, and is taken back there', async () => {
  const [source, target, back, copy] = await Promise.all([
    ...[embedded.fresh(), cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))],
    ...[embedded.fresh(), embedded.fresh()],
  ])
  if (!source || !target || !back || !copy) throw new Error('no databases')
  const fixture = await openFixture({ ...embedded, fresh: async () => source })
  const { agent, operator } = await fixture.agent()
  await fixture.write(agent, { key: 'own', text: 'mine' })
  const left = copy.url.replace('sqlite:', '')
  let readings = 0
  /** A backup is made once the first batch is there. */
  async function* many() {
    const isLast = readings++ > 0
    for (let n = 0; n < 150; n++) {
      if (isLast && n === 120) {
        writeFileSync(left, '')
        await copyDatabase(source?.url ?? '', left, () => {}, processTimers)
      }
      yield [kept(`k${1_000 + n}`, 1, 'sent')]
    }
  }
  const all = { [Symbol.asyncIterator]: many }
  const answer = await fixture.store().importMemories(operator, all, REPLACE, NOON)
  expect(answer).toMatchObject({ imported: 150 })
  await fixture.store().close()

  const over = await move(copy.url, target.url, NOON, processTimers, () => {})
  expect(over).toContainEqual(expect.objectContaining({ table: 'unfinished', rows: 1 }))
  expect(await move(target.url, back.url, NOON, processTimers, () => {})).toEqual(over)
  for (const { url } of [copy, target, back])
    expect(await verified(url)).toMatchObject({ faults: [] })
  for (const [name, { url }] of Object.entries({ postgres: target, sqlite: back })) {
    const store = await openStore(url, NOON, unbounded)
    const found = await store.listMemories(agent, newQuery({}))
    expect([name, found]).toMatchObject([name, { memories: [{ key: 'own' }] }])
    expect((await eventsOf(store, agent)).events.at(-1)).toMatchObject({ type: 'undo_import' })
    await store.close()
    expect((await verified(url)).faults).toEqual([])
  }
  await Promise.all([source, target, back, copy].map(({ drop }) => drop()))
})
