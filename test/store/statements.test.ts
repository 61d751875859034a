/** Every statement that PostgreSQL is sent, by the rules of a database that keeps homes on several. */
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { beforeAll, expect, test } from 'vitest'
import {
  created,
  distributed,
  distribution,
  faultsOf,
  INSERT_WITHIN,
  MIXED,
  NOT_SELECT,
  schema,
  UNNAMED,
} from './statement-rules.ts'

let statements: readonly string[]
beforeAll(async () => {
  const thread = new Worker(new URL('statements-thread.ts', import.meta.url))
  const [posted] = await once(thread, 'message')
  statements = posted
})

/** How they begin. */
const EXCEPT = {
  'sent only where one server keeps all homes, see test/postgres/sharded.test.ts': [
    'SELECT agent_id, kind, status, audience, key_id, name,',
    'SELECT agent_id AS "agentId", key_hash AS "keyHash", salt',
    'SELECT q.place, c.kind, c.status',
    'WITH home AS ( UPDATE homes h SET memories = h.memories + 1',
    'WITH home AS ( UPDATE homes h SET bytes = h.bytes + $7',
    'SELECT s.agent_id FROM unnest($1::TEXT[], $2::BIGINT[])',
  ],
  'sent to every server, see docs/citus.md': [
    'SELECT agents.agent_id AS id, name,',
    'UPDATE agents SET account_id = NULL WHERE account_id = $1',
    'SELECT agent_id, holder, held_until,',
    'SELECT CASE WHEN homes <= 1000 THEN homes',
  ],
  'sent by `agent-home verify`, which reads all homes': [
    'SELECT agent_id, first_event AS first, last_event AS last, head, base FROM homes',
    'SELECT agent_id, n AS id, coalesce(event, operation) AS type,',
  ],
  'sent by the migration from 1.0.0, before homes are distributed': [
    'UPDATE memories m SET pinned = true',
    'SELECT agent_id, memory_count FROM agents WHERE agent_id > $1',
    'WITH texts AS ( INSERT INTO log',
  ],
}

test('a statement names the home that it is about, in a form that every cluster takes', () => {
  const texts = statements.map((each) => each.trim().replace(/\s+/g, ' '))
  const excepted = Object.values(EXCEPT).flat()
  const isExcepted = (text: string) => excepted.some((start) => text.startsWith(start))
  const faulty = texts.filter((text) => faultsOf(text).length > 0)
  expect(faulty.filter((text) => !isExcepted(text))).toEqual([])
  // An exception that is none any more would let others through.
  expect(faulty).toHaveLength(excepted.length)
  expect(statements.length).toBeGreaterThan(200)
})

test('a statement is made while its module loads, where this test finds it', () => {
  const made = globSync('src/store/{verbs,postgres}/**/*.ts').flatMap((path) =>
    [
      ...readFileSync(path, 'utf8').matchAll(
        /^ +(?:const|let|return|await|yield).*\bstatement[<(].*/gm,
      ),
    ].map(([line]) => `${path}: ${line.trim()}`),
  )
  // Called while modules load.
  expect(made).toEqual(['src/store/postgres/memories/insert-rows.ts: const sql = statement('])
})

const VICTIM = `UPDATE homes SET last_event = last_event + 1 WHERE agent_id = $1`

test.each([
  ['SELECT text FROM log WHERE n = $1', UNNAMED('log')],
  ['SELECT m.key FROM memories m JOIN log l ON l.n = m.n WHERE m.agent_id = $1', UNNAMED('log')],
  [
    'SELECT key, (SELECT text FROM log l WHERE l.agent_id = m.agent_id) FROM memories m WHERE m.agent_id = $1',
    UNNAMED('log'),
  ],
  ['INSERT INTO log (n, agent_id) VALUES ($1, $2)', UNNAMED('log')],
  [
    'DELETE FROM log WHERE agent_id = $1 OR agent_id IN (SELECT agent_id FROM homes)',
    UNNAMED('homes'),
  ],
  ['SELECT 1 FROM agents a JOIN accounts o ON o.id = a.account_id WHERE a.agent_id = $1', MIXED],
  [
    `WITH a AS (${VICTIM} RETURNING 1) INSERT INTO log (agent_id, n) SELECT $1, 1 FROM a`,
    NOT_SELECT,
  ],
  [
    `WITH a AS (INSERT INTO log (agent_id, n) VALUES ($1, 1)) SELECT day FROM homes WHERE agent_id = $1`,
    INSERT_WITHIN,
  ],
  [
    'UPDATE log SET n = ($3::BIGINT[])[array_position($2::BIGINT[], n)] WHERE agent_id = $1',
    'an element of an array by array_position',
  ],
  ['UPDATE log SET n = ($3::BIGINT[])[n] WHERE agent_id = $1', 'an element of an array parameter'],
  [
    `UPDATE homes SET head = sha256(convert_to(day::TEXT, 'UTF8')) WHERE agent_id = $1`,
    'a function that is only stable',
  ],
])('not %s', (statement, fault) => {
  expect(faultsOf(VICTIM)).toEqual([])
  expect(faultsOf(statement)).toContain(fault)
})

test('the tables of a home are unique by it, and refer to each other alone', () => {
  const ofHomes = created.filter(({ name }) => distributed.has(name))
  expect(ofHomes.map(({ name }) => name).sort()).toEqual(
    created
      .filter(({ columns }) =>
        /^\s*agent_id TEXT COLLATE "C" (?:NOT NULL|PRIMARY KEY)/.test(columns),
      )
      .map(({ name }) => name)
      .filter((name) => name !== 'erased_agents')
      .sort(),
  )
  for (const { name, columns } of ofHomes) {
    expect(columns).toMatch(/PRIMARY KEY \(agent_id|agent_id TEXT COLLATE "C" PRIMARY KEY/)
    expect(columns).not.toContain('UNIQUE')
    for (const [, referred = ''] of columns.matchAll(/REFERENCES (\w+)/g)) {
      expect([...distributed, 'accounts']).toContain(referred)
      if (referred === 'accounts') expect(distribution).toContain(`${name}_account_id_fkey`)
    }
  }
  for (const [, table = '', first] of schema.matchAll(/UNIQUE INDEX.* ON (\w+) \((\w+)/g)) {
    if (distributed.has(table)) expect(first).toBe('agent_id')
  }
})
