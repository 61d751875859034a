/** Which databases are opened, which are refused, and in what words. */
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { StoreRefused } from '../../src/store/port/errors.ts'
import { openConnections, unprepared } from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { watchSchema } from '../../src/store/postgres/schema/migrations.ts'
import { SCHEMA } from '../../src/store/schema.ts'
import { processTimers } from '../../src/timers.ts'
import { manualTimers } from '../manual-timers.ts'
import { unbounded } from '../unbounded.ts'
import { createTemplate, type Database } from './databases.ts'

const databases: Database[] = []
let database: Database
beforeEach(async () => {
  database = await createTemplate(inject('postgresUrl'))
  databases.push(database)
})
afterAll(() => Promise.all(databases.map(({ drop }) => drop())))

const open = () => openStore(database.url, Date.now(), unbounded)

async function run(sql: string): Promise<void> {
  const connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
    timers: processTimers,
  })
  await connections.write(unprepared(sql))
  await connections.close()
}

const alter = (setting: string) => run(`ALTER DATABASE ${database.name} SET ${setting}`)

test('eight nodes that start at once on an empty database all get the one schema', async () => {
  const stores = await Promise.all(Array.from({ length: 8 }, open))
  for (const store of stores) {
    await store.checkWritable(Date.now())
    await store.close()
  }
})

test('a node that may do no more is told so once, and looks no longer', async () => {
  await (await open()).close()
  const connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
    timers: processTimers,
  })
  const manual = manualTimers()
  const schema = watchSchema(connections.read, manual.timers)
  const told: string[] = []
  schema.whenRefused(({ message }) => told.push(message))
  await connections.write(unprepared(`UPDATE schema_version SET oldest = ${SCHEMA + 1}`))
  manual.pass(1_000)
  await expect.poll(() => told).toEqual([expect.stringContaining(`${SCHEMA + 1} or newer`)])
  expect(manual.waits()).toEqual([])
  await connections.close()
})

describe('a server that would lose answered writes', () => {
  test('is refused with synchronous_commit = off', async () => {
    await alter('synchronous_commit = off')
    await expect(open()).rejects.toThrow(/synchronous_commit is off: .* ALTER ROLE/)
  })

  test('is warned of with synchronous_commit = local', async () => {
    await alter('synchronous_commit = local')
    const store = await open()
    expect(store.warnings).toEqual([expect.stringMatching(/synchronous_commit is local/)])
    await store.close()
  })
})

test('a server out of reach is refused in words, without its password', async () => {
  const opening = openStore('postgres://home:secret@127.0.0.1:1/home', Date.now(), unbounded)
  await expect(opening).rejects.toThrow(StoreRefused)
  await expect(opening).rejects.toThrow(/^postgres:\/\/127\.0\.0\.1:1\/home cannot be used: /)
  await expect(opening).rejects.not.toThrow(/secret/)
})

test('a database that does not exist is refused with the server’s own word', async () => {
  const opening = openStore(database.url.replace(database.name, 'nowhere'), Date.now(), unbounded)
  await expect(opening).rejects.toThrow(/cannot be used: .*"nowhere" does not exist/)
})
