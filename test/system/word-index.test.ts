/** PostgreSQL's index of words: new words without end take no more of the disk than a first million. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import {
  type Connections,
  openConnections,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { processTimers } from '../../src/timers.ts'
import { cloneDatabase, type Database } from '../postgres/databases.ts'
import { NOON } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'

/** A busy machine may take its time to fill a table. */
const PATIENCE_MS = 600_000

const MIB = 1_048_576

let database: Database
let connections: Connections
beforeAll(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  await (await openStore(database.url, NOON, unbounded)).close()
  connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
    timers: processTimers,
    statementMs: PATIENCE_MS,
  })
})
afterAll(async () => {
  await connections.close()
  await database.drop()
})

/** As posts file theirs: 700 entries of 512 words that nobody wrote before. */
const leave =
  unprepared(`INSERT INTO entries (id, feed, room, identity, identity_type, details, created_at, text, words)
   SELECT $1 || n, 'seeds', 'memory-garden', '', '', '{}', 0, '', (
     SELECT array_to_tsvector(array_agg(left(md5($1 || n || ' ' || word), 10)))
     FROM generate_series(1, 512) AS word
   ) FROM generate_series(1, 700) AS n`)

const sizeOfIndex = unprepared<{
  bytes: number
}>(`SELECT sum(pg_relation_size(c.oid))::BIGINT AS bytes FROM pg_index i
   JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am a ON a.oid = c.relam
   WHERE i.indrelid = 'entries'::REGCLASS AND a.amname = 'gin'`)

/** An index of the words themselves would be at 61 MiB after these, and is at 26. */
const ROUNDS = 4

test('after four times as many posts as are kept it is within 40 MiB, for 358,400 words', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await connections.write(unprepared('DELETE FROM entries'))
    await connections.alone('VACUUM entries')
    await connections.write(leave, `${round} `)
  }
  const [{ bytes } = { bytes: 0 }] = await connections.read(sizeOfIndex)
  console.info(`the index of words: ${(bytes / MIB).toFixed(0)} MiB`)
  expect(bytes).toBeGreaterThan(8 * MIB)
  expect(bytes).toBeLessThan(40 * MIB)
})
