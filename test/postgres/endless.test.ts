/** A write of which the database says one thing and then another is given up, not tried for ever. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import {
  type Connections,
  openConnections,
  statement,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { openFixture, type StoreFixture } from '../store/fixture.ts'
import { cloneDatabase, type Database } from './databases.ts'

let database: Database
let fixture: StoreFixture
let connections: Connections
beforeAll(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  const existing = { ...database, directory: async () => '', drop: async () => {} }
  fixture = await openFixture({ name: 'postgres', fresh: async () => existing })
  connections = openConnections(hostsOf(database.url), 1, 'agent-home test')
})
afterAll(async () => {
  await connections.close()
  await fixture.close()
  await database.drop()
})

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
