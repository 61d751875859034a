/** What is wrong with a file is found, and what is right is not blamed. */
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../../src/store/open.ts'
import { openWriter } from '../../../src/store/sqlite/engine/connection.ts'
import { chainFaults } from '../../../src/store/sqlite/rest/chained.ts'
import { ofHomes, ofLog, ofMemories, ofVersions } from '../../../src/store/sqlite/rest/keeping.ts'
import { ofAgents, ofEntries } from '../../../src/store/sqlite/rest/promises.ts'
import { verifyDatabase } from '../../../src/store/sqlite/rest/verify.ts'
import { temporaryDirectory } from '../../harness.ts'
import { unbounded } from '../../unbounded.ts'
import { NOON } from '../fixture.ts'
import { livedIn } from './lived.ts'

const directory = temporaryDirectory()
let lived = ''
beforeAll(async () => {
  lived = await livedIn(join(directory, 'lived'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const damaged = join(directory, 'damaged.db')

/** A copy in which something was done that no program of ours does. */
function damage(sql: string): string {
  copyFileSync(lived, damaged)
  const db = new DatabaseSync(damaged, { enableForeignKeyConstraints: false })
  db.exec(`PRAGMA journal_mode = DELETE; ${sql}`)
  db.close()
  return damaged
}

test('a file in which all was done is as it was promised, and is left as it is', () => {
  const before = readFileSync(lived)
  const told: [number, number][] = []
  const found = verifyDatabase(lived, (done, of) => told.push([done, of]))
  expect(found.faults).toEqual([])
  expect(found.counts).toMatchObject({ accounts: 1, agents: 2, memories: 10, entries: 3 })
  expect(found.checks).toBeGreaterThan(20)
  expect(told).toEqual(told.map((_, at) => [at, found.checks]))
  expect(readFileSync(lived).equals(before)).toBe(true)
  expect(readdirSync(join(lived, '..')).toSorted()).toEqual(['home.db', 'home.db.lock'])
})

/** For each promise: what breaks it. */
const damages: readonly (readonly [string, string])[] = [
  ['not exactly one agent token', `DELETE FROM credentials WHERE kind = 'operator'`],
  ['an agent has no home', `DELETE FROM homes`],
  ['no SHA-256', `UPDATE credentials SET token_hash = 'aho_' || agent_id WHERE kind = 'operator'`],
  ['lacks its name or its bounds', `UPDATE credentials SET prefix = NULL WHERE name = 'CI'`],
  ['not stored as argon2id', `UPDATE accounts SET password_hash = 'correct horse battery'`],
  [
    'more sessions, passkeys or addresses',
    `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 30)
     INSERT INTO sessions (token_hash, id, account_id, user_agent, created_at, seen_at, expires_at)
       SELECT printf('%064x', i), 's' || i, a.id, '', 1, 1, 2 FROM c, accounts a`,
  ],
  ['does not agree with its newest version', `UPDATE memories SET version = 9 WHERE key = 'plan'`],
  ['what is left of a deleted memory', `UPDATE memories SET version = 9 WHERE key = 'gone'`],
  ['is pinned and does not say so', `UPDATE memories SET pinned = 0 WHERE key = 'pinned'`],
  ['a key is none', `UPDATE memories SET key = 'no key' WHERE key = 'pinned'`],
  ['a version below 1', `UPDATE memories SET version = 0 WHERE key = 'erased'`],
  ['follow on each other', `UPDATE memories SET run = version WHERE key = 'erased'`],
  ['sizes differ', `UPDATE log SET text = 'longer' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET metadata = '[]' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET metadata = '{' WHERE text = 'two'`],
  ['none that could be written', `UPDATE log SET text = '' WHERE text = 'two'`],
  ['does not follow on', `UPDATE log SET version = 7 WHERE text = 'two' AND key = 'plan'`],
  [
    'left out, and nothing in the log tells why',
    `UPDATE log SET version = 3 WHERE key = 'late' AND version = 2;
     UPDATE memories SET version = 3 WHERE key = 'late'`,
  ],
  ['belongs to no memory', `DELETE FROM memories WHERE key = 'pinned'`],
  ['an agent that is not there', `UPDATE log SET agent_id = 'nobody' WHERE n = 1`],
  ['events of a home are missing', `DELETE FROM log WHERE event = 'rename'`],
  ['events of a home are missing', `UPDATE homes SET last_event = last_event + 1`],
  [
    'not in the order of their numbers',
    `UPDATE log SET id = CASE id WHEN 2 THEN 3 ELSE 2 END WHERE id IN (2, 3)`,
  ],
  ['found by nobody', `UPDATE homes SET tail = NULL; DELETE FROM log_index`],
  ['a row that is not there', `INSERT INTO log_index SELECT agent_id, 1, 999999 FROM agents`],
  ['counts of memories differ', `UPDATE homes SET memories = memories + 1`],
  ['counts of memories differ', `UPDATE homes SET bytes = bytes + 1`],
  ['counts of memories differ', `UPDATE homes SET deleted = deleted + 1`],
  ['bytes of earlier versions', `UPDATE homes SET history = history + 1`],
  ['count of vectors differs', `UPDATE homes SET vectors = vectors + 1`],
  ['count of vectors differs', `UPDATE homes SET last_vector = 1`],
  ['of no current text', `UPDATE vectors SET version = 9 WHERE key = 'plan'`],
  ['of no current text', `UPDATE vectors SET key = 'gone' WHERE key = 'plan'`],
  ['or is none', `UPDATE vectors SET vector = X'010203'`],
  ['or is none', `UPDATE vectors SET vector = X''`],
  ['order of their ids', `UPDATE entries SET id = '0' WHERE n = 2`],
  ['counts differ from its entries', `UPDATE room_counts SET entries = entries + 1`],
  ['counts differ from its entries', `DELETE FROM room_counts`],
  ['a label that it does not bear', `UPDATE entry_labels SET label = label || 'x'`],
  ['a label that it does not bear', `DELETE FROM entry_labels`],
  ['the index of words', `DELETE FROM entry_words WHERE rowid = 1`],
  ['refers to one that is not there', `UPDATE agents SET account_id = 'nobody'`],
  ['the schema is not the one', `DROP TRIGGER entry_composted`],
  ['the schema is not the one', `CREATE TABLE stray (x)`],
]

test.each(damages)('it finds: %s', (sentence, sql) => {
  const { faults } = verifyDatabase(damage(sql))
  expect(faults.map(({ fault }) => fault)).toContainEqual(expect.stringContaining(sentence))
  for (const { count, places } of faults) expect(places.length).toBe(Math.min(count, 5))
})

const all = [ofAgents, ofMemories, ofVersions, ofLog, ofHomes, ofEntries].flat()

interface Loop {
  readonly parent: number
  readonly detail: string
}

describe('the chain', () => {
  const PROVEN = 'an event is not the one that was chained'
  const COMMITTED = 'a text or its metadata are not those that its event committed to'

  const texts = ['author', 'event', 'key', 'renamed_from', 'metadata', 'text']
  const blobs = ['hash', 'content', 'salt']
  const numbers = ['id', 'version', 'updated_at']

  /** Every byte of what an event says, and of what it committed to, each changed in turn. */
  test('every byte of an event, of a text and of metadata that is changed is found', () => {
    copyFileSync(lived, damaged)
    const db = new DatabaseSync(damaged, { enableForeignKeyConstraints: false })
    expect(chainFaults(db, 5)).toEqual([])
    const rows = db.prepare('SELECT * FROM log ORDER BY n').all()
    const shown = ({ operation, event }: (typeof rows)[number]) => event !== null || operation
    const unseen: string[] = []
    let tried = 0
    function change(n: unknown, column: string, value: Uint8Array | number, as: string): void {
      tried++
      const set = as === 'TEXT' ? 'CAST(? AS TEXT)' : '?'
      db.exec('SAVEPOINT changed')
      db.prepare(`UPDATE log SET ${column} = ${set} WHERE n = ?`).run(value, Number(n))
      if (chainFaults(db, 1).length === 0) unseen.push(`${column} of ${n}`)
      db.exec('ROLLBACK TO changed; RELEASE changed')
    }
    for (const row of rows.filter(shown)) {
      // Of what an import brought with its history, no event says anything.
      const isProven = row.event !== null || row.salt !== null
      if (!isProven) continue
      const columns = row.event === null ? ['metadata', 'text', ...blobs] : [...texts, ...blobs]
      for (const column of columns) {
        const value = row[column]
        if (value === null) continue
        const bytes = Buffer.from(value as string | Uint8Array)
        for (const at of bytes.keys()) {
          const changed = Buffer.from(bytes)
          changed[at] = (changed[at] ?? 0) ^ 1
          change(row.n, column, changed, typeof value === 'string' ? 'TEXT' : 'BLOB')
        }
      }
      for (const column of row.event === null ? [] : numbers) {
        if (typeof row[column] === 'number') change(row.n, column, row[column] + 1, 'INTEGER')
      }
    }
    db.close()
    expect(unseen).toEqual([])
    expect(tried).toBeGreaterThan(4_000)
  })

  test.each([
    ['an event left out', PROVEN, `DELETE FROM log WHERE event = 'create_key'`],
    [
      'an event put in',
      PROVEN,
      `INSERT INTO log (agent_id, id, event, author, updated_at)
         SELECT agent_id, last_event + 1, 'export', '{"as":"agent","via":"api"}', 1 FROM homes;
       UPDATE homes SET last_event = last_event + 1`,
    ],
    [
      'two events in the place of each other',
      PROVEN,
      `UPDATE log SET id = CASE id WHEN 2 THEN 3 ELSE 2 END WHERE id IN (2, 3)`,
    ],
    ['a head', 'does not end at its head', 'UPDATE homes SET head = zeroblob(32)'],
    ['a beginning', PROVEN, 'UPDATE homes SET base = zeroblob(32)'],
    ['a salt taken away', COMMITTED, `UPDATE log SET salt = NULL WHERE text = 'two'`],
    [
      'a longer salt',
      COMMITTED,
      `UPDATE log SET salt = CAST(salt || x'00' AS BLOB) WHERE text = 'two'`,
    ],
    [
      'what was committed to, of a text that was imported',
      COMMITTED,
      `UPDATE log SET content = NULL, salt = NULL, text = 'owt'
         WHERE event IS NULL AND operation IS NOT NULL AND salt IS NOT NULL`,
    ],
  ])('finds %s', (_, sentence, sql) => {
    const { faults } = verifyDatabase(damage(sql))
    expect(faults.map(({ fault }) => fault)).toContainEqual(expect.stringContaining(sentence))
  })
})

test('no promise reads a table anew for each row of another', () => {
  const db = new DatabaseSync(lived, { readOnly: true })
  for (const { fault, wrong } of all) {
    const plan = db.prepare(`EXPLAIN QUERY PLAN ${wrong}`).all() as unknown as Loop[]
    const loops = plan.filter(({ detail }) => /^(SCAN|SEARCH) /.test(detail))
    for (const nested of Map.groupBy(loops, ({ parent }) => parent).values()) {
      const inner = nested.slice(1).filter(({ detail }) => /^SCAN /.test(detail))
      // What a row's own JSON holds is that row's, and rooms are few.
      const again = inner.filter(({ detail }) => !/VIRTUAL TABLE|^SCAN e LEFT/.test(detail))
      expect([fault, again.map(({ detail }) => detail)]).toEqual([fault, []])
    }
  }
  db.close()
})

test('every promise is broken by one of them', () => {
  const unbroken = all.filter(({ fault }) => !damages.some(([part]) => fault.includes(part)))
  expect(unbroken.map(({ fault }) => fault)).toEqual([])
})

test('a file with bytes that are not its own is corrupt', () => {
  const bytes = readFileSync(lived)
  bytes.fill(0x5a, 3 * 4_096, 12 * 4_096)
  writeFileSync(damaged, bytes)
  const [first] = verifyDatabase(damaged).faults
  expect(first?.fault).toMatch(/^the file (is corrupt|cannot be read)$/)
})

test.each([
  ['is no database of Agent Home', 'PRAGMA user_version = 0'],
  ['this program knows', 'PRAGMA user_version = 1000'],
])('what cannot be judged is refused: %s', (sentence, sql) => {
  expect(() => verifyDatabase(damage(sql))).toThrow(sentence)
})

describe('while a service holds the file', () => {
  test('one moment of it is checked, whatever is still in its log', async () => {
    const path = join(directory, 'served.db')
    copyFileSync(lived, path)
    const store = await openStore(`sqlite:${path}`, NOON, unbounded)
    await store.checkWritable(NOON)
    expect(verifyDatabase(path).faults).toEqual([])
    const db = openWriter(path)
    db.exec('UPDATE homes SET memories = memories + 1')
    expect(verifyDatabase(path).faults).toMatchObject([{ count: 2 }])
    db.close()
    await store.close()
  })
})
