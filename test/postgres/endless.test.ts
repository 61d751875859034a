/** A write that the database only pretends to make is none: nothing is counted or logged of it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Connections, unprepared } from '../../src/store/postgres/engine/connections.ts'
import type { StoreFixture } from '../store/fixture.ts'
import { openBeside } from './opened.ts'

let fixture: StoreFixture
let connections: Connections
let close: () => Promise<void>
beforeAll(async () => {
  ;({ fixture, connections, close } = await openBeside(1))
})
afterAll(() => close())

const run = (sql: string) => connections.write(unprepared(sql))

test('an update that changes no memory fails as a whole', async () => {
  const { agent } = await fixture.agent()
  await fixture.write(agent)
  await run(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
  await run(
    'CREATE TRIGGER skipping BEFORE UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION skip()',
  )
  const update = () => fixture.write(agent, { expectedVersion: 1 })
  await expect(update()).rejects.toThrow('null value')
  expect(await fixture.store().eventsAfter(agent, 0, 10)).toMatchObject({ last: 1 })
  expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({ memory: { version: 1 } })
  await run('DROP TRIGGER skipping ON memories')
  expect(await update()).toMatchObject({ outcome: 'saved' })
})
