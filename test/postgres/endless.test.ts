/** A write of which the database says one thing and then another is given up, not tried for ever. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import { type Connections, statement } from '../../src/store/postgres/engine/connections.ts'
import type { StoreFixture } from '../store/fixture.ts'
import { openBeside } from './opened.ts'

let fixture: StoreFixture
let connections: Connections
let close: () => Promise<void>
beforeAll(async () => {
  ;({ fixture, connections, close } = await openBeside(1))
})
afterAll(() => close())

const run = (sql: string) => connections.write(statement('', sql))

test('an update that finds the version neither there nor another', async () => {
  const { agent } = await fixture.agent()
  await fixture.write(agent)
  await run(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`)
  await run(
    'CREATE TRIGGER skipping BEFORE UPDATE ON memories FOR EACH ROW EXECUTE FUNCTION skip()',
  )
  const update = () => fixture.write(agent, { expectedVersion: 1 })
  await expect(update()).rejects.toBeInstanceOf(StoreUnavailable)
  expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({ memory: { version: 1 } })
  await run('DROP TRIGGER skipping ON memories')
  expect(await update()).toMatchObject({ outcome: 'saved' })
})
