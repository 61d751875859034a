/** What is wrong with a database is found, and what is right is not blamed. */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { NAMED } from '../../../src/store/check/promises.ts'
import { verifyDatabase } from '../../../src/store/maintenance.ts'
import { move } from '../../../src/store/move/move.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Verified } from '../../../src/store/port/check.ts'
import type { KeptVersion } from '../../../src/store/port/transfer.ts'
import * as onPostgres from '../../../src/store/postgres/check/verify.ts'
import * as onSqlite from '../../../src/store/sqlite/check/verify.ts'
import { openWriter } from '../../../src/store/sqlite/engine/connection.ts'
import { processTimers } from '../../../src/timers.ts'
import { released } from '../../fixtures/released.ts'
import { type Engine, embedded, engines } from '../../harness.ts'
import { at } from '../../postgres/databases.ts'
import { unbounded } from '../../unbounded.ts'
import { NOON, openFixture } from '../fixture.ts'
import { kept as version } from '../kept.ts'
import { liveThroughAll } from './everything.ts'
import { type Begun, type Lived, liveOn, type Row } from './lived.ts'

const verify = (place: string): Promise<Verified> => verifyDatabase(place, processTimers, () => {})

const named = (faults: Verified['faults']): string[] => faults.map(({ fault }) => fault)

const sentences = async (place: string): Promise<string[]> => named((await verify(place)).faults)

/** What no check of rows finds, and what one transaction cannot do and undo. */
const OF_ALL = /\b(CREATE|DROP|ALTER) |^UPDATE sessions/

/** SQL for both engines, or for each its own; null: it cannot be done there. */
type Damage = string | { readonly sqlite: string | null; readonly postgres: string | null }

/** The memory `late` is set back to version 1, its newest text is gone as if it had been pruned. */
const setBack = (stripped: string, own: string): string => {
  const first = (column: string): string =>
    `(SELECT min(l.${column}) FROM log l
      WHERE l.agent_id = memories.agent_id AND l.key = 'late' AND l.version = 1)`
  const held =
    'SELECT sum(l.size) FROM log l WHERE l.agent_id = homes.agent_id AND l.text IS NOT NULL'
  const current =
    'SELECT sum(m.size) FROM memories m WHERE m.agent_id = homes.agent_id AND NOT m.deleted'
  return `
    UPDATE log SET ${stripped}, previous = NULL, text = NULL, metadata = NULL, salt = NULL,
      bytes = 0, size = 0 WHERE key = 'late' AND version = 2;
    UPDATE memories SET version = 1, n = ${first('n')}, size = ${first('size')},
      updated_at = ${first('updated_at')}${own} WHERE key = 'late';
    UPDATE vectors SET version = 1 WHERE key = 'late';
    UPDATE homes SET bytes = (${current}), history = (${held}) - (${current})`
}

const FIRST = '(SELECT min(agent_id) FROM agents)'

/** As a version that was pruned leaves the row of its event. */
const prune = (isFile: boolean, which: string): string => `
  UPDATE log SET text = NULL, metadata = NULL, salt = NULL, bytes = 0, size = 0, previous = NULL,
    ${isFile ? 'operation = NULL, memory_id = NULL, created_at = NULL' : 'kept = false'}
    WHERE agent_id = ${FIRST} AND ${which};`

/** All counters agree with what is there. */
const recount = (isFile: boolean): string => {
  const of = (what: string, from: string) =>
    `coalesce((SELECT ${what} FROM ${from} AND agent_id = homes.agent_id), 0)`
  const held = of('sum(size)', `log WHERE ${isFile ? 'operation IS NOT NULL' : 'kept'}`)
  const current = of('sum(size)', 'memories WHERE NOT deleted')
  return `
    UPDATE homes SET memories = ${of('count(*)', 'memories WHERE NOT deleted')},
      deleted = ${of('count(*)', 'memories WHERE deleted')}, bytes = ${current},
      history = ${held} - ${current},
      vectors = ${of('sum(octet_length(vector))', 'vectors WHERE version > 0')}`
}

/** What was done to memories of the first home, so that nothing else gives it away. */
const attacks: readonly (readonly [string, string, (isFile: boolean) => string])[] = [
  [
    'vanished without an event',
    'not the one that its last event made',
    (isFile) => `
      DELETE FROM memories WHERE agent_id = ${FIRST} AND key = 'late';
      DELETE FROM vectors WHERE agent_id = ${FIRST} AND key = 'late';
      ${prune(isFile, "key = 'late'")} ${recount(isFile)}`,
  ],
  [
    'was deleted and came back to life',
    'not the one that its last event made',
    (isFile) => {
      const then = (column: string) =>
        `(SELECT ${column} FROM log WHERE agent_id = ${FIRST} AND key = 'gone' AND version = 4)`
      return `
        UPDATE memories SET deleted = false, version = 4, n = ${then('n')}, size = ${then('size')},
          updated_at = ${then('updated_at')} ${isFile ? `, change = ${then('id')}, run = 3` : ''}
          WHERE agent_id = ${FIRST} AND key = 'gone';
        ${prune(isFile, "key = 'gone' AND version = 5")} ${recount(isFile)}`
    },
  ],
  [
    'was never written',
    'has no event, and its event cannot have been pruned',
    (isFile) => {
      const [places, numbers] = isFile ? ['n, id', '999, 0'] : ['n, kept', '-7, true']
      return `
        INSERT INTO log (agent_id, ${places}, key, version, updated_at, operation, memory_id,
            created_at, bytes, size, metadata, text)
          SELECT ${FIRST}, ${numbers}, 'forged', 1, 1, 'write', 'm', 1, 1, 3, '{}', 't';
        ${isFile ? `INSERT INTO log_index SELECT agent_id, id, n FROM log WHERE n = 999;` : ''}
        INSERT INTO memories (agent_id, key, id, version, created_at, updated_at, deleted, size,
            pinned, n ${isFile ? ', change, kept' : ''})
          SELECT ${FIRST}, 'forged', 'm', 1, 1, 1, false, 3, false,
            ${isFile ? '999, 0, 1' : '-7'};
        ${recount(isFile)}`
    },
  ],
]

/** For each promise: what breaks it. */
const damages: readonly (readonly [string, Damage])[] = [
  ['not exactly one agent token', `DELETE FROM credentials WHERE kind = 'operator'`],
  ['an agent has no home', `DELETE FROM homes`],
  ['no SHA-256', `UPDATE credentials SET token_hash = 'aho_' || agent_id WHERE kind = 'operator'`],
  ['no SHA-256', `UPDATE credentials SET token_hash = upper(token_hash)`],
  ['lacks its name or its bounds', `UPDATE credentials SET prefix = NULL WHERE name = 'CI'`],
  ['not stored as argon2id', `UPDATE accounts SET password_hash = 'correct horse battery'`],
  [
    'more sessions, sign-ins, passkeys or addresses',
    {
      sqlite: `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 30)
        INSERT INTO sessions (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)
          SELECT printf('%064x', i), 's' || i, a.id, '', 1, 1, 2 FROM c, accounts a`,
      postgres: `INSERT INTO sessions
          (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)
        SELECT lpad(i::TEXT, 64, '0'), 's' || i, a.id, '', 1, 1, 2
        FROM generate_series(1, 30) AS i, accounts a`,
    },
  ],
  ['does not agree with its newest version', `UPDATE memories SET version = 9 WHERE key = 'plan'`],
  ['does not agree with its newest version', `UPDATE memories SET n = NULL WHERE key = 'plan'`],
  ['what is left of a deleted memory', `UPDATE memories SET version = 9 WHERE key = 'gone'`],
  ['what is left of a deleted memory', `UPDATE memories SET pinned = true WHERE key = 'gone'`],
  ['is pinned and does not say so', `UPDATE memories SET pinned = false WHERE key = 'pinned'`],
  ['says so and is not', `UPDATE memories SET pinned = true WHERE key = 'plan'`],
  [
    'not the one that its last event made',
    `UPDATE memories SET deleted = true, size = 0 WHERE key = 'late'`,
  ],
  ['not the one that its last event made', `DELETE FROM memories WHERE key = 'gone'`],
  ['has no event, and its event', `UPDATE memories SET key = 'forged' WHERE key = 'pinned'`],
  ['is protected and no event', `UPDATE memories SET protected = true WHERE key = 'late'`],
  ['lacks its key, its number', `UPDATE log SET memory_id = NULL WHERE text = 'two'`],
  ['of another memory than', `UPDATE log SET memory_id = 'x' WHERE text = 'two'`],
  [
    'belongs to two memories',
    `UPDATE memories SET n = (
      SELECT o.n FROM memories o WHERE o.agent_id = memories.agent_id AND o.key = 'plan'
    ) WHERE key = 'late'`,
  ],
  [
    'in a row that holds no version',
    `UPDATE log SET text = 'again' WHERE coalesce(event, operation) = 'create_key'`,
  ],
  [
    'in a row that holds no version',
    {
      sqlite: `UPDATE log SET event = NULL WHERE text = 'two'`,
      postgres: `UPDATE log SET n = -7 WHERE text = 'one' AND key = 'late'`,
    },
  ],
  ['what its event committed to', `UPDATE log SET salt = hash WHERE operation = 'delete'`],
  ['none that could be written', `UPDATE log SET author = '{' WHERE text = 'two'`],
  [
    'the place that its number',
    { sqlite: `UPDATE memories SET run = 1 WHERE key = 'moved'`, postgres: null },
  ],
  [
    'the place of its last change',
    { sqlite: `UPDATE memories SET change = 1 WHERE key = 'late'`, postgres: null },
  ],
  [
    'numbered as an event and is none',
    { sqlite: `UPDATE log SET event = NULL WHERE text = 'two'`, postgres: null },
  ],
  [
    'something of one',
    { sqlite: `UPDATE log SET size = 1 WHERE event = 'create_key'`, postgres: null },
  ],
  [
    'the row before an event',
    { sqlite: `UPDATE log SET before = n WHERE before IS NOT NULL`, postgres: null },
  ],
  ['the row before an event', { sqlite: `UPDATE homes SET tail = 1`, postgres: null }],
  [
    'found twice',
    { sqlite: `INSERT OR IGNORE INTO log_index SELECT agent_id, id, n FROM log`, postgres: null },
  ],
  ['a key is none', `UPDATE memories SET key = 'no key' WHERE key = 'pinned'`],
  ['a version below 1', `UPDATE memories SET version = 0 WHERE key = 'erased'`],
  [
    'follow on each other',
    { sqlite: `UPDATE memories SET run = version WHERE key = 'erased'`, postgres: null },
  ],
  ['sizes differ', `UPDATE log SET text = 'longer' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET metadata = '[]' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET metadata = '{' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET text = '' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET text = 'two' WHERE operation = 'delete'`],
  ['does not follow on', `UPDATE log SET version = 7 WHERE text = 'two' AND key = 'plan'`],
  [
    'left out, and nothing in the log tells why',
    `UPDATE log SET version = 3 WHERE key = 'late' AND version = 2;
     UPDATE memories SET version = 3 WHERE key = 'late'`,
  ],
  ['belongs to no memory', `DELETE FROM memories WHERE key = 'pinned'`],
  ['under another key than', `UPDATE log SET key = 'other' WHERE text = 'one' AND key = 'plan'`],
  ['was not created when', `UPDATE log SET created_at = 5 WHERE text = 'one' AND key = 'late'`],
  [
    'made by no event',
    {
      sqlite: `UPDATE log SET event = NULL WHERE text = 'one' AND key = 'late'`,
      postgres: `UPDATE log SET n = -7 WHERE text = 'one' AND key = 'late'`,
    },
  ],
  [
    'differs from the event that made it',
    `UPDATE log SET event_author = author WHERE key = 'late'`,
  ],
  [
    'differs from the event that made it',
    {
      sqlite: `UPDATE log SET operation = 'edit' WHERE event = 'rename'`,
      postgres: `UPDATE log SET event = 'rename', operation = 'edit' WHERE operation = 'rename'`,
    },
  ],
  [
    'differs from the event that made it',
    `UPDATE log SET happened_at = updated_at WHERE event_author IS NOT NULL`,
  ],
  [
    'differs from the event that made it',
    `UPDATE log SET happened_at = updated_at - 1 WHERE event_author IS NULL AND text = 'two'`,
  ],
  [
    'differs from the event that made it',
    `UPDATE log SET made_as = 'other' WHERE event_author IS NULL AND text = 'two'`,
  ],
  [
    'follows on what it did not bring',
    `UPDATE log SET event = 'import', event_author = author WHERE key = 'late' AND version = 2`,
  ],
  [
    'follows on what it did not bring',
    `UPDATE log SET event_author = author WHERE event_author IS NOT NULL AND text = 'two'`,
  ],
  [
    'of no import that had begun',
    {
      sqlite: `UPDATE log SET event = 'end_import' WHERE event = 'begin_import'`,
      postgres: `UPDATE log SET operation = 'end_import' WHERE operation = 'begin_import'`,
    },
  ],
  [
    'has not ended and is not remembered',
    {
      sqlite: `UPDATE log SET event = 'profile' WHERE event = 'end_import'`,
      postgres: `UPDATE log SET operation = 'profile' WHERE operation = 'end_import'`,
    },
  ],
  [
    'has not ended and is not remembered',
    {
      sqlite: `INSERT INTO unfinished (agent_id, event) SELECT agent_id, last_event FROM homes`,
      postgres: `INSERT INTO unfinished (agent_id, event, holder, held_until)
        SELECT agent_id, last_event, '', 0 FROM homes`,
    },
  ],
  [
    'an agent that is not there',
    {
      sqlite: `UPDATE log SET agent_id = 'nobody' WHERE n = (SELECT n FROM log LIMIT 1)`,
      postgres: `INSERT INTO log (agent_id, n, kept, operation, updated_at)
        VALUES ('nobody', 1, false, 'write', 0)`,
    },
  ],
  ['events of a home are missing', `DELETE FROM log WHERE operation = 'rename'`],
  ['events of a home are missing', `UPDATE homes SET last_event = last_event + 1`],
  ['missing, doubled', { sqlite: `UPDATE log SET id = 2 WHERE id = 3`, postgres: null }],
  [
    'not in the order of their numbers',
    {
      sqlite: `UPDATE log SET id = CASE id WHEN 2 THEN 3 ELSE 2 END WHERE id IN (2, 3)`,
      postgres: null,
    },
  ],
  [
    'cannot be reached',
    {
      sqlite: `UPDATE homes SET tail = NULL; DELETE FROM log_index`,
      postgres: `INSERT INTO log (agent_id, n, kept, updated_at, operation)
        SELECT agent_id, 0, false, 1, 'export' FROM homes`,
    },
  ],
  [
    'a row that is not there',
    { sqlite: `INSERT INTO log_index SELECT agent_id, 1, 999999 FROM agents`, postgres: null },
  ],
  ['counts of memories differ', `UPDATE homes SET memories = memories + 1`],
  ['counts of memories differ', `UPDATE homes SET bytes = bytes + 1`],
  ['counts of memories differ', `UPDATE homes SET deleted = deleted + 1`],
  ['bytes of earlier versions', `UPDATE homes SET history = history + 1`],
  ['count of vectors differs', `UPDATE homes SET vectors = vectors + 1`],
  ['count of vectors differs', `UPDATE homes SET last_vector = 1`],
  ['of no current text', `UPDATE vectors SET version = 9 WHERE key = 'plan'`],
  ['of no current text', `UPDATE vectors SET key = 'gone' WHERE key = 'plan'`],
  ['or is none', `UPDATE vectors SET vector = substr(vector, 1, 3)`],
  ['or is none', `UPDATE vectors SET vector = substr(vector, 1, 0)`],
  ['order of their ids', { sqlite: `UPDATE entries SET id = '0' WHERE n = 2`, postgres: null }],
  ['counts differ from its entries', `UPDATE room_counts SET entries = entries + 1`],
  ['counts differ from its entries', `DELETE FROM room_counts`],
  [
    'a label that it does not bear',
    {
      sqlite: `UPDATE entry_labels SET label = label || 'x'`,
      postgres: `UPDATE entry_labels SET id = id || 'x'`,
    },
  ],
  [
    'a label that it does not bear',
    { sqlite: `DELETE FROM entry_labels`, postgres: `UPDATE entry_labels SET feed = 'garden'` },
  ],
  [
    'the index of words',
    {
      sqlite: `DELETE FROM entry_words WHERE rowid = 1`,
      postgres: `UPDATE entries SET words = ''`,
    },
  ],
  ['cannot be read', 'DROP TABLE passkeys'],
  ['refers to one that is not there', `UPDATE sessions SET account_id = 'nobody'`],
  [
    'an account that is not there',
    { sqlite: null, postgres: `UPDATE agents SET account_id = 'nobody'` },
  ],
  [
    'the schema is not the one',
    { sqlite: `DROP TRIGGER entry_composted`, postgres: `DROP FUNCTION find_kindred` },
  ],
  [
    'the schema is not the one',
    { sqlite: `CREATE TABLE stray (x)`, postgres: `ALTER TABLE sessions ADD COLUMN stray TEXT` },
  ],
  [
    'the schema is not the one',
    {
      sqlite: `ALTER TABLE sessions ADD COLUMN stray TEXT`,
      postgres: `ALTER TABLE sessions ALTER COLUMN turn TYPE INTEGER`,
    },
  ],
  ['the schema is not the one', `DROP INDEX entries_by_feed`],
  [
    'the schema is not the one',
    {
      // As it is, but for its unique key.
      sqlite: `DROP TABLE account_recoveries;
        CREATE TABLE account_recoveries (account_id TEXT PRIMARY KEY REFERENCES accounts (id),
          secret_hash TEXT NOT NULL, expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`,
      postgres: `ALTER TABLE accounts DROP CONSTRAINT accounts_email_key`,
    },
  ],
  [
    'the schema is not the one',
    { sqlite: null, postgres: `ALTER TABLE log DROP CONSTRAINT log_pkey` },
  ],
  [
    'the schema is not the one',
    { sqlite: null, postgres: `ALTER TABLE homes DROP CONSTRAINT homes_agent_id_fkey` },
  ],
]

/** What an event proves, and what it committed to, by column. `others`: if it has that, that is the event's. */
const proven = {
  sqlite: {
    places: 'n',
    numbers: ['id', 'version', 'updated_at', 'happened_at'],
    texts: ['author', 'event_author', 'event', 'key', 'renamed_from'],
    others: { author: 'event_author', updated_at: 'happened_at' },
    bytes: (value: Buffer) => `X'${value.toString('hex')}'`,
  },
  postgres: {
    places: 'agent_id, n',
    numbers: ['version', 'updated_at', 'happened_at'],
    texts: ['author', 'event_author', 'operation', 'event', 'key', 'renamed_from'],
    others: { author: 'event_author', operation: 'event', updated_at: 'happened_at' },
    bytes: (value: Buffer) => `'\\x${value.toString('hex')}'`,
  },
} as const

const OF_A_VERSION = ['metadata', 'text', 'hash', 'content', 'salt'] as const

const CHAIN = /was chained|does not end at its head|committed to/

const COMMITTED = 'a text or its metadata differ from what its event committed to'

async function execute(url: string, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const db = openWriter(url.replace('sqlite:', ''))
    db.exec(sql)
    db.close()
    return
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`

function expectFound(faults: Verified['faults'], sentence: string): void {
  expect(named(faults)).toContainEqual(expect.stringContaining(sentence))
  for (const { count, places } of faults) expect(places.length).toBe(Math.min(count, NAMED))
}

/** Whoever changes them undoes it. */
const lives = new Map<Engine, Lived>()
beforeAll(async () => {
  for (const engine of engines) lives.set(engine, await liveOn(engine))
})
afterAll(async () => {
  for (const lived of lives.values()) await lived.drop()
})

function livedOn(engine: Engine): Lived {
  const lived = lives.get(engine)
  if (!lived) throw new Error('nothing was done there')
  return lived
}

describe.each(engines)('on $name', (on) => {
  const engine = on.name as 'sqlite' | 'postgres'
  const here = (damage: Damage) => (typeof damage === 'string' ? damage : damage[engine])
  const done = damages.flatMap(([sentence, damage]) => {
    const sql = here(damage)
    return sql === null ? [] : [[sentence, sql] as const]
  })
  let lived: Lived
  beforeAll(() => {
    lived = livedOn(on)
  })

  test('a database in which all was done is as it was promised', async () => {
    const told: [number, number][] = []
    const found = await verifyDatabase(lived.place, processTimers, (done, of) =>
      told.push([done, of]),
    )
    expect(found.faults).toEqual([])
    expect(found.counts).toMatchObject({ accounts: 1, agents: 2, memories: 10, entries: 3 })
    expect(found.checks).toBeGreaterThan(20)
    expect(told).toEqual(told.map((_, at) => [at, found.checks]))
  })

  test('it says how much is not proven, and both engines count the same', async () => {
    const through = await liveOn(on, liveThroughAll)
    const { faults, counts, unproven } = await verify(through.place)
    await through.drop()
    // Of the last home, 60 of 64 events were pruned, and with them those of the memory `old`.
    expect({ faults, counts, unproven }).toMatchObject({
      faults: [],
      counts: { agents: 5, memories: 19, events: 64 },
      unproven: 1,
    })
  })

  test.each(done.filter(([, sql]) => OF_ALL.test(sql)))('it finds: %s', async (sentence, sql) => {
    expectFound((await verify(await lived.damaged(sql))).faults, sentence)
  })

  test('a database of which a part cannot be read is checked in all else', async () => {
    const found = await sentences(
      await lived.damaged(`ALTER TABLE vectors DROP COLUMN vector;
        UPDATE homes SET history = history + 1`),
    )
    expect(found).toContain('the data cannot be read')
    expect(found).toContainEqual(expect.stringContaining('bytes of earlier versions'))
  })

  test('every promise is broken by one of them', () => {
    const { promises } = engine === 'sqlite' ? onSqlite : onPostgres
    const unbroken = promises.filter(({ fault }) => !done.some(([part]) => fault.includes(part)))
    expect(unbroken.map(({ fault }) => fault)).toEqual([])
  })

  const forgotten = engine === 'sqlite' ? '; PRAGMA user_version = 0' : ''

  test.each([
    ['this program knows', 'UPDATE schema_version SET version = 1000, oldest = 1000'],
    ['is not a database of Agent Home', `DELETE FROM schema_version${forgotten}`],
    ['is not a database of Agent Home', `DROP TABLE schema_version${forgotten}`],
  ])('what cannot be judged is refused: %s (%s)', async (sentence, sql) => {
    const place = await lived.damaged(sql ?? '')
    await expect(verify(place)).rejects.toThrow(sentence)
  })

  test('of an older schema only the soundness is checked', async () => {
    const release = released.find(({ name }) => name === `1.0.0 on ${engine}`)
    const database = await release?.fresh()
    const place = database?.url.replace(/^sqlite:/, '') ?? ''
    expect(await verify(place)).toMatchObject({
      faults: [],
      counts: {},
      schema: { found: engine === 'sqlite' ? 4 : 3 },
    })
    await database?.drop()
  })

  test('whatever a file says of versions is as it was promised', async () => {
    const database = await on.fresh()
    const kept = { ...database, drop: async () => {} }
    const fixture = await openFixture({ ...on, fresh: async () => kept })
    const { agent, operator } = await fixture.agent()
    const by = { as: 'operator', via: 'api' } as const
    const odd: readonly KeptVersion[] = [
      { ...version('a', 2, 'one'), madeAs: 'a', operation: 'rename' },
      { ...version('a', 3, 'two'), madeAs: 'b', id: 'other', by, createdAt: 1, updatedAt: 2 },
      { ...version('a', 7, undefined), by: undefined, updatedAt: NOON + 9_999 },
      { ...version('a', 9, 'three'), operation: 'import', by, createdAt: NOON, updatedAt: NOON },
      { ...version('b', 1, 'one'), operation: 'edit' },
      { ...version('b', 2, undefined) },
      { ...version('own', 5, 'theirs'), updatedAt: NOON + 9_999, protected: true },
    ]
    const source = {
      [Symbol.asyncIterator]: async function* () {
        yield* odd.map((each) => [each])
      },
    }
    const order = { onConflict: 'replace', dryRun: false } as const
    const { importMemories, rollBack, changeMemories } = fixture.store()
    await fixture.write(agent, { key: 'own', text: 'mine' })
    for (const now of [NOON, NOON - 5]) {
      expect(await importMemories(operator, source, order, now)).toMatchObject({
        outcome: 'imported',
      })
    }
    await fixture.write(agent, { key: 'b', text: 'again', expectedVersion: 0 })
    const rename = { verb: 'rename', from: 'a', to: 'c', expectedVersion: 10 } as const
    expect(await changeMemories(agent, [rename], NOON - 9)).toMatchObject({ outcome: 'changed' })
    const back = { to: 4, prefix: '', dryRun: false }
    expect(await rollBack(operator, back, NOON - 99)).toMatchObject({ outcome: 'rolled_back' })
    await fixture.store().eraseMemory(operator, 'c', [7], NOON)
    await fixture.close()
    expect(await sentences(database.url.replace(/^sqlite:/, ''))).toEqual([])
    await database.drop()
  })

  test('what an import brought before schema 27 is checked too', async () => {
    const release = released.find(({ name }) => name === `2.0.0 on ${engine}`)
    const database = await release?.fresh()
    const url = database?.url ?? ''
    // No node of that release is waited for.
    const timers = { ...unbounded.timers, pause: async () => {} }
    await (await openStore(url, NOON, { ...unbounded, timers })).close()
    const place = url.replace(/^sqlite:/, '')
    expect(await sentences(place)).toEqual([])
    const sql = here({
      sqlite: `UPDATE log SET salt = NULL, content = NULL, text = 'owt', made_as = 'other'
        WHERE event IS NULL AND salt IS NOT NULL`,
      postgres: `UPDATE log SET salt = NULL, text = 'owt' WHERE event = 'import';
        UPDATE log SET made_as = 'other' WHERE n < 0`,
    })
    await execute(url, sql ?? '')
    expect(await sentences(place)).toEqual(
      expect.arrayContaining([COMMITTED, 'a version differs from the event that made it']),
    )
    await database?.drop()
  })

  describe('in rows', () => {
    let begun: Begun
    beforeAll(async () => {
      begun = await lived.begin()
    })
    afterAll(() => begun.end())

    test.each(done.filter(([, sql]) => !OF_ALL.test(sql)))(
      'it finds: %s',
      async (sentence, sql) => {
        expectFound(await begun.faultsAfter(sql), sentence)
      },
    )

    test('a memory that was set back, with all counters adjusted, is found by its event alone', async () => {
      const sql = here({
        sqlite: setBack(
          'operation = NULL, memory_id = NULL, created_at = NULL',
          `, run = 0, kept = 1, change = change - 1`,
        ),
        postgres: setBack('kept = false', ''),
      })
      const own = here({
        sqlite: 'a memory is not in the place of its last change',
        postgres: null,
      })
      expect(named(await begun.faultsAfter(sql ?? ''))).toEqual([
        'a memory is not the one that its last event made',
        ...(own === null ? [] : [own]),
      ])
    })

    test.each(attacks)(
      'a memory that %s is found by the events alone',
      async (_, sentence, sql) => {
        const found = named(await begun.faultsAfter(sql(engine === 'sqlite')))
        const others = found.filter(
          (each) => each !== 'a memory is not in the place of its last change',
        )
        expect(others).toContainEqual(expect.stringContaining(sentence))
        // Of a memory that was never written, the version has no event either.
        expect(
          others.filter((each) => !each.startsWith('a version was made by no event')),
        ).toHaveLength(1)
      },
    )

    const { places, numbers, texts, others, bytes } = proven[engine]
    const other = (row: Row, column: string) =>
      row[(others as Record<string, string>)[column] ?? '']

    /** Statements that change one byte or number each: in turn the first byte, one within, the last. */
    function* changesOf(row: Row, turn: number): Generator<string> {
      for (const column of [...texts, ...OF_A_VERSION]) {
        const value = row[column] ?? null
        if (value === null || (other(row, column) ?? null) !== null) continue
        const whole = Buffer.from(value as string | Uint8Array)
        const at = [0, whole.length >> 1, whole.length - 1][turn++ % 3] ?? 0
        whole[at] = (whole[at] ?? 0) ^ 1
        yield `${column} = ${typeof value === 'string' ? quoted(whole.toString()) : bytes(whole)}`
      }
      for (const column of numbers) {
        const value = row[column] ?? null
        const isEvents = (other(row, column) ?? null) !== null
        if (value !== null && !isEvents) yield `${column} = ${column} + 1`
      }
    }

    test('what is changed of an event, of a text or of metadata is found by the chain', async () => {
      const { ask, checkLog } = begun
      expect(await checkLog()).toEqual([])
      const unseen: string[] = []
      let tried = 0
      for (const row of await ask(`SELECT * FROM log ORDER BY ${places}`)) {
        for (const change of changesOf(row, tried)) {
          tried++
          await ask('SAVEPOINT changed')
          await ask(
            `UPDATE log SET ${change} WHERE n = ${row.n} AND agent_id = ${quoted(String(row.agent_id))}`,
          )
          const faults = await checkLog()
          if (!faults.some(({ fault }) => CHAIN.test(fault))) unseen.push(`${change} of ${row.n}`)
          await ask('ROLLBACK TO changed')
          await ask('RELEASE changed')
        }
      }
      expect(unseen).toEqual([])
      expect(tried).toBeGreaterThan(200)
    })

    const PROVEN = 'an event is not the one that was chained'
    const forged: readonly (readonly [string, string, Damage])[] = [
      [
        'an event left out',
        PROVEN,
        `DELETE FROM log WHERE coalesce(event, operation) = 'create_key'`,
      ],
      [
        'an event put in',
        PROVEN,
        {
          sqlite: `INSERT INTO log (agent_id, id, event, author, updated_at)
            SELECT agent_id, last_event + 1, 'export', '{"as":"agent","via":"api"}', 1 FROM homes;
          UPDATE homes SET last_event = last_event + 1`,
          postgres: `INSERT INTO log (agent_id, n, kept, operation, author, updated_at)
            SELECT agent_id, last_event + 1, false, 'export', '{"as":"agent","via":"api"}', 1
            FROM homes;
          UPDATE homes SET last_event = last_event + 1`,
        },
      ],
      [
        'two events in the place of each other',
        PROVEN,
        {
          sqlite: `UPDATE log SET id = CASE id WHEN 2 THEN 3 ELSE 2 END WHERE id IN (2, 3)`,
          postgres: `UPDATE log SET n = 0 WHERE n = 2; UPDATE log SET n = 2 WHERE n = 3;
          UPDATE log SET n = 3 WHERE n = 0`,
        },
      ],
      ['a head', 'does not end at its head', 'UPDATE homes SET head = base'],
      ['a beginning', PROVEN, 'UPDATE homes SET base = head'],
      ['a salt taken away', COMMITTED, `UPDATE log SET salt = NULL WHERE text = 'two'`],
      [
        'a longer salt',
        COMMITTED,
        {
          sqlite: `UPDATE log SET salt = CAST(salt || x'00' AS BLOB) WHERE text = 'two'`,
          postgres: `UPDATE log SET salt = salt || '\\x00' WHERE text = 'two'`,
        },
      ],
      [
        'what was committed to, of a text that was imported',
        COMMITTED,
        `UPDATE log SET salt = NULL, text = 'owt' WHERE event_author IS NOT NULL AND salt IS NOT NULL`,
      ],
    ]

    test.each(forged)('the chain finds %s', async (_, sentence, damage) => {
      const found = named(await begun.faultsAfter(here(damage) ?? ''))
      expect(found).toContainEqual(expect.stringContaining(sentence))
    })
  })
})

describe('a file', () => {
  let lived: Lived
  beforeAll(() => {
    lived = livedOn(embedded)
  })

  test('is left as it is', async () => {
    const before = readFileSync(lived.place)
    const beside = readdirSync(dirname(lived.place))
    await verify(lived.place)
    expect(readFileSync(lived.place).equals(before)).toBe(true)
    expect(readdirSync(dirname(lived.place))).toEqual(beside)
  })

  interface Loop {
    readonly parent: number
    readonly detail: string
  }

  test('no promise reads a table anew for each row of another', () => {
    const db = new DatabaseSync(lived.place, { readOnly: true })
    for (const { fault, wrong } of onSqlite.promises) {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${wrong}`).all() as unknown as Loop[]
      const loops = plan.filter(({ detail }) => /^(SCAN|SEARCH) /.test(detail))
      for (const nested of Map.groupBy(loops, ({ parent }) => parent).values()) {
        const inner = nested.slice(1).filter(({ detail }) => /^SCAN /.test(detail))
        // What a row's own JSON holds is that row's, and rooms are few.
        const again = inner.filter(({ detail }) => !/VIRTUAL TABLE|^SCAN e LEFT/.test(detail))
        expect([fault, again.map(({ detail }) => detail)]).toEqual([fault, []])
        // An index of the whole log, made for one query, is larger than the memory for it.
        const indexed = nested.filter(({ detail }) => /SEARCH l .*AUTOMATIC/.test(detail))
        expect([fault, indexed.map(({ detail }) => detail)]).toEqual([fault, []])
      }
    }
    db.close()
  })

  test('with bytes that are not its own is corrupt', async () => {
    const bytes = readFileSync(lived.place)
    bytes.fill(0x5a, 3 * 4_096, 12 * 4_096)
    const damaged = join(dirname(lived.place), 'corrupt.db')
    writeFileSync(damaged, bytes)
    expect((await sentences(damaged))[0]).toMatch(/^the (file is corrupt|data cannot be read)$/)
  })

  test('that a service holds is checked as of one moment, whatever is still in its log', async () => {
    const path = join(dirname(lived.place), 'served.db')
    copyFileSync(lived.place, path)
    const store = await openStore(`sqlite:${path}`, NOON, unbounded)
    await store.checkWritable(NOON)
    expect(await sentences(path)).toEqual([])
    const db = openWriter(path)
    db.exec('UPDATE homes SET memories = memories + 1')
    expect((await verify(path)).faults).toMatchObject([{ count: 2 }])
    db.close()
    await store.close()
  })
})

describe.each(engines.slice(1))('a live database', (engine) => {
  let lived: Lived
  beforeAll(() => {
    lived = livedOn(engine)
  })

  test.each(inject('poolers'))('is checked through $name too', async ({ url }) => {
    const place = at(url, new URL(lived.place).pathname.slice(1))
    expect(await sentences(place)).toEqual([])
  })

  test('to which a file was moved is as it was promised, and counts the same', async () => {
    const through = await liveOn(embedded, liveThroughAll)
    for (const file of [livedOn(embedded), through]) {
      const target = await engine.fresh()
      await move(`sqlite:${file.place}`, target.url, NOON, processTimers, () => {})
      const { faults, counts, unproven } = await verify(file.place)
      expect(await verify(target.url)).toMatchObject({ faults, counts, unproven })
      expect(faults).toEqual([])
      await target.drop()
    }
    await through.drop()
  })

  test('is checked beyond a page of homes, and beyond a page of their rows', async () => {
    const { ask, checkLog, end } = await lived.begin()
    const first = `agent_id = '!1'`
    for (const sql of [
      'SET LOCAL session_replication_role = replica',
      `INSERT INTO homes SELECT (jsonb_populate_record(NULL::homes, to_jsonb(h) ||
         jsonb_build_object('agent_id', '!' || n, 'first_event', 1, 'last_event', 0))).*
       FROM (SELECT * FROM homes LIMIT 1) h, generate_series(1, 200) AS n`,
      `INSERT INTO log SELECT (jsonb_populate_record(NULL::log, to_jsonb(l) ||
         jsonb_build_object('agent_id', '!1', 'n', at))).*
       FROM (SELECT * FROM log WHERE text = 'two' AND kept LIMIT 1) l, generate_series(1, 201) AS at`,
      `UPDATE log SET salt = NULL WHERE ${first} AND n = 201`,
      `UPDATE log SET size = size + 1 WHERE NOT ${first} AND text = 'two'`,
    ]) {
      await ask(sql)
    }
    const faults = await checkLog()
    await end()
    expect(named(faults)).toEqual(
      expect.arrayContaining([
        'a text or its metadata differ from what its event committed to',
        'a version’s sizes differ from what it holds',
      ]),
    )
    const events = faults.find(({ fault }) => fault.startsWith('an event is not the one'))
    expect(events?.count).toBe(201)
    expect(events?.places).toHaveLength(NAMED)
  })

  test('is checked from what lies below zero in its first home', async () => {
    const { ask, checkLog, end } = await lived.begin()
    const of = `(SELECT * FROM log WHERE text = 'two' AND key = 'late' AND kept LIMIT 1) l`
    for (const sql of [
      'SET LOCAL session_replication_role = replica',
      `INSERT INTO log SELECT (jsonb_populate_record(NULL::log, to_jsonb(l) ||
         '{ "n": -7, "hash": null, "size": 1 }')).* FROM ${of}`,
      'DELETE FROM homes WHERE agent_id NOT IN (SELECT agent_id FROM log WHERE n < 0)',
    ]) {
      await ask(sql)
    }
    const faults = await checkLog()
    await end()
    expect(faults).toMatchObject([{ fault: 'a version’s sizes differ from what it holds' }])
  })

  test('is checked as of one moment, however much is changed meanwhile', async () => {
    const client = new pg.Client({ connectionString: lived.place })
    await client.connect()
    let changing: Promise<unknown> | undefined
    const { faults } = await verifyDatabase(lived.place, processTimers, () => {
      changing ??= client.query('UPDATE homes SET memories = memories + 1')
    })
    await changing
    expect(faults).toEqual([])
    expect((await verify(lived.place)).faults).toMatchObject([{ count: 2 }])
    await client.end()
  })
})
