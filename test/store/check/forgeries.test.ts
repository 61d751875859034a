/** Several rows are changed together, with every counter adjusted, and still what is forged is found. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDatabase } from '../../../src/store/maintenance.ts'
import { processTimers } from '../../../src/timers.ts'
import { engines } from '../../harness.ts'
import { type Lived, liveOn } from './lived.ts'

/** Into it nothing was imported, and all of its events are kept. */
const FIRST = '(SELECT min(agent_id) FROM agents)'

const OF_FIRST = `agent_id = ${FIRST}`

const HELD = { sqlite: 'operation IS NOT NULL', postgres: 'kept' } as const

type Name = keyof typeof HELD

/** What the version that is there has in a column. */
const of = (on: Name, key: string, version: number, column: string): string =>
  `(SELECT ${column} FROM log
    WHERE ${OF_FIRST} AND key = '${key}' AND version = ${version} AND ${HELD[on]})`

const recount = (on: Name): string => `
  UPDATE homes SET history = (
    SELECT sum(l.size) FROM log l WHERE l.agent_id = homes.agent_id AND ${HELD[on]}
  ) - bytes WHERE ${OF_FIRST};`

/** A version that was never written, beneath one that was. */
function putBeneath(on: Name, key: string, version: number): string {
  const [numbers, values] = on === 'sqlite' ? ['n, id', '-7, 0'] : ['n, kept', '-7, true']
  const above = (column: string) => of(on, key, version + 1, column)
  const index = `INSERT INTO log_index SELECT agent_id, id, n FROM log WHERE n < 1;`
  return `
    INSERT INTO log (agent_id, ${numbers}, key, version, operation, updated_at, author,
        memory_id, created_at, previous, bytes, size, metadata, text)
      SELECT ${FIRST}, ${values}, '${key}', ${version}, 'write', ${above('created_at')},
        ${above('author')}, ${above('memory_id')}, ${above('created_at')}, ${above('previous')},
        6, 8, '{}', 'forged';
    UPDATE log SET previous = -7
      WHERE ${OF_FIRST} AND key = '${key}' AND version = ${version + 1};
    ${on === 'sqlite' ? index : ''}`
}

const backdated = `
  UPDATE log SET created_at = 5 WHERE ${OF_FIRST} AND key = 'late';
  UPDATE memories SET created_at = 5 WHERE ${OF_FIRST} AND key = 'late';`

/** `plan` and `holed`, which were written in turns, have each other's earlier versions. */
function crossed(on: Name): string {
  const other = (column: string, version: number) => `CASE key
    WHEN 'plan' THEN ${of(on, 'holed', version, column)} ELSE ${of(on, 'plan', version, column)} END`
  const both = `${OF_FIRST} AND key IN ('plan', 'holed')`
  return `
    UPDATE log SET memory_id = ${other('memory_id', 4)}, created_at = ${other('created_at', 4)}
      WHERE ${both} AND version < 4;
    UPDATE log SET previous = ${other('n', 3)} WHERE ${both} AND version = 4;
    ${on === 'sqlite' ? 'UPDATE memories SET run = 0;' : ''}`
}

const BY_NO_EVENT = 'a version was made by no event, and none can have been pruned'

type Forgery = readonly [what: string, sentence: string, sql: (on: Name) => string]

const event = 'a version differs from the event that made it'

const LATE = `WHERE ${OF_FIRST} AND key = 'late' AND version = 2`

const forgeries: readonly Forgery[] = [
  ['a version where one was erased', BY_NO_EVENT, (on) => putBeneath(on, 'holed', 2) + recount(on)],
  [
    'the time of a creation',
    'a memory was not created when its first version was written',
    () => backdated,
  ],
  [
    'two histories in the place of each other',
    'a version is under another key than the one before it',
    crossed,
  ],
  [
    'the time of a version',
    event,
    () => `UPDATE log SET happened_at = updated_at, updated_at = 5 ${LATE};
      UPDATE memories SET updated_at = 5 WHERE ${OF_FIRST} AND key = 'late';`,
  ],
  [
    'a later time of a deletion',
    event,
    () => `UPDATE log SET happened_at = updated_at, updated_at = updated_at + 5
        WHERE ${OF_FIRST} AND operation = 'delete';
      UPDATE memories SET updated_at = updated_at + 5 WHERE ${OF_FIRST} AND key = 'gone';`,
  ],
  [
    'the author of a version',
    event,
    () => `UPDATE log SET event_author = author, author = '{"as":"operator"}' ${LATE};`,
  ],
  ['what was done', event, () => `UPDATE log SET event = operation, operation = 'append' ${LATE};`],
]

describe.each(engines)('on $name', (on) => {
  const name = on.name === 'sqlite' ? 'sqlite' : 'postgres'
  let lived: Lived
  beforeAll(async () => {
    lived = await liveOn(on)
  })
  afterAll(() => lived.drop())

  test.each(forgeries)('%s, forged', async (_, sentence, sql) => {
    const { faults } = await verifyDatabase(await lived.damaged(sql(name)), processTimers, () => {})
    expect(faults.map(({ fault }) => fault)).toContain(sentence)
  })
})
