/** Words in PostgreSQL's text search: those stored before are found, and rare ones at once. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/port/store.ts'
import {
  type Connections,
  openConnections,
  unprepared,
} from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { takeEntries } from '../../src/store/postgres/schema/from-1.0.0.ts'
import { processTimers } from '../../src/timers.ts'
import { unbounded } from '../unbounded.ts'
import { cloneDatabase, type Database } from './databases.ts'

/** A busy machine may take its time to fill a table. */
const PATIENCE_MS = 600_000

let database: Database
let store: Store
let connections: Connections
beforeAll(async () => {
  database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  store = await openStore(database.url, Date.now(), unbounded)
  connections = openConnections(hostsOf(database.url), 1, 'agent-home test', {
    timers: processTimers,
    statementMs: PATIENCE_MS,
  })
})
afterAll(async () => {
  await connections.close()
  await store.close()
  await database.drop()
})

const run = (sql: string, ...values: unknown[]) => connections.write(unprepared(sql), ...values)

/** As earlier programs stored an entry, with words of its text as they saw them. */
const leave = (id: string, text: string, words: string) =>
  run(
    `INSERT INTO entries VALUES
       ($1, 'garden', 'consciousness-garden', 'A', 'ai', '{}', 0, $2, to_tsvector('simple', $3))`,
    ...[id, text, words],
  )

const found = async (...phrases: string[]) =>
  (await store.findKindred(phrases, 5)).map(({ text }) => text)

test('what was split otherwise is split anew, a slice at a time, and the rest is found as before', async () => {
  await leave('1', 'Λόγος', 'λόγος')
  await leave('2', 'plain words', 'plain words')
  await run(
    `INSERT INTO entries
     SELECT 'filler' || i, 'garden', 'consciousness-garden', 'A', 'ai', '{}', 0, 'x', 'x'
     FROM generate_series(1, 250) i`,
  )
  await leave('z', 'हिन्दी', 'हिन्दी')
  expect(await found('Λόγος', 'हिन्दी')).toEqual([])
  let slices = 0
  for (let after: string | undefined = ''; after !== undefined; slices++) {
    const from: string = after
    after = await connections.transact((ask) => takeEntries(ask, from))
  }
  expect(slices).toBe(4)
  expect(await found('Λόγος', 'हिन्दी')).toEqual(['हिन्दी', 'Λόγος'])
  expect(await found('plain words')).toEqual(['plain words'])
})

/** Two words of one place. */
function neighbours(): readonly [string, string] {
  const places = new Map<string, string>()
  for (let n = 0; ; n++) {
    const word = `word${n}`
    const place = createHash('md5').update(word).digest('hex').slice(0, 5)
    const other = places.get(place)
    if (other) return [other, word]
    places.set(place, word)
  }
}

test('a word is not taken for another that shares its place', async () => {
  const [one, other] = neighbours()
  await leave('neighbour1', one, one)
  expect([await found(one), await found(other)]).toEqual([[one], []])
  await leave('neighbour2', other, other)
  expect([await found(one), await found(other)]).toEqual([[one], [other]])
})

interface Plan {
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

const explain = unprepared<{ plans: readonly { readonly Plan: Plan }[] }>(
  `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT find_kindred('{nowhere}', 5, NULL, NULL)`,
)

test('a rare word is looked up, and no long text is read for it', async () => {
  await run(
    `INSERT INTO entries
     SELECT 'long' || i, 'garden', 'consciousness-garden', 'A', 'ai', '{}', 0, 'long',
       (SELECT array_to_tsvector(array_agg('w' || md5(n::TEXT))) FROM generate_series(1, 3000) n)
     FROM generate_series(1, 100) i`,
  )
  await run('VACUUM ANALYZE entries')
  expect(await found('nowhere')).toEqual([])
  const [explained] = await connections.read(explain)
  const [{ Plan: plan } = { Plan: undefined }] = Object.values(explained ?? {}).flat()
  const blocks = (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0)
  expect(blocks).toBeGreaterThan(0)
  expect(blocks).toBeLessThan(100)
})

test('no arrival files the words of those before it', async () => {
  const [index] = await connections.read(
    unprepared<{ reloptions: string[] }>(
      "SELECT reloptions FROM pg_class WHERE relname = 'entries_by_place'",
    ),
  )
  expect(index?.reloptions).toEqual(['fastupdate=off'])
})
