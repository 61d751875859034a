/** A move is all or nothing: what arrives otherwise than it left is not taken. */
import { DatabaseSync } from 'node:sqlite'
import { expect, inject, test } from 'vitest'
import { verifyDatabase } from '../../src/store/at-rest.ts'
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
import { processTimers } from '../../src/timers.ts'
import { embedded } from '../harness.ts'
import { NOON, openFixture, type StoreFixture } from '../store/fixture.ts'
import { kept, REPLACE, sourceOf } from '../store/import-work.ts'
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

/** More than is fetched at once. */
const MANY = 501

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
  await fixture.store().close()
  const target = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  const rowsOf = (moved: readonly Moved[]) => moved.find(({ table }) => table === 'log')?.rows
  const over = await move(source.url, target.url, NOON, processTimers, () => {})
  expect(rowsOf(over)).toBe(MANY)
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

test('what an import brought whose oldest version is gone leaves room to the next import', async () => {
  const [source, back] = await Promise.all([
    cloneDatabase(inject('postgresUrl'), inject('postgresTemplate')),
    embedded.fresh(),
  ])
  const onServer = await openFixture({ name: 'postgres', fresh: async () => ({ ...source }) })
  const { agent, operator } = await onServer.agent()
  const versions = ['one', 'two', 'three'].map((text, at) => kept('a', at + 1, text))
  const brought = { outcome: 'imported', imported: 1 }
  const bring = (fixture: StoreFixture, key: string) => {
    const all = sourceOf(() => versions.map((each) => ({ ...each, key })))
    return fixture.store().importMemories(operator, all, REPLACE, NOON)
  }
  expect(await bring(onServer, 'a')).toMatchObject(brought)
  await onServer.store().eraseMemory(operator, 'a', [1], NOON)
  await onServer.write(agent, { key: 'a', text: 'four', expectedVersion: 3 })
  // By a clock that went back: the version has another time than its event.
  const order = { to: 2, prefix: '', dryRun: false }
  expect(await onServer.store().rollBack(operator, order, NOON - 99)).toMatchObject({ restored: 1 })
  await onServer.store().close()
  await move(source.url, back.url, NOON, processTimers, () => {})

  const inFile = await openFixture({ ...embedded, fresh: async () => back })
  expect(await bring(inFile, 'b')).toMatchObject(brought)
  expect(await inFile.store().readMemory(agent, 'a')).toMatchObject({ memory: { text: 'three' } })
  expect(await inFile.store().readVersion(agent, 'a', 2)).toMatchObject({ memory: { text: 'two' } })
  await inFile.store().close()
  const file = back.url.replace('sqlite:', '')
  expect((await verifyDatabase(file, processTimers, () => {})).faults).toEqual([])
  await Promise.all([source.drop(), back.drop()])
})
