/**
 * Whatever is changed of a home with SQL is noticed, but for what a list here explains; docs/proof.md
 * has it in words.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines } from '../harness.ts'
import { liveThroughAll } from '../store/check/everything.ts'
import { type Lived, liveOn, type Row } from '../store/check/lived.ts'

type Value = Row[string]

/** Tables, and the columns that name a row. `log_index` is of SQLite alone. */
const PLACES = {
  homes: ['agent_id'],
  memories: ['agent_id', 'key'],
  log: ['agent_id', 'n'],
  log_index: ['agent_id', 'id', 'n'],
} as const

type Table = keyof typeof PLACES

interface Change {
  readonly row: Row
  readonly to: Value
  /** The oldest retained event of the row's home. */
  readonly first: number
  /** Rows of the log by agent and number. */
  readonly rows: ReadonlyMap<string, Row>
  readonly isFile: boolean
}

interface Explained {
  readonly of: Table
  readonly columns: readonly string[]
  readonly on?: 'sqlite' | 'postgres'
  readonly where?: (change: Change) => boolean
  readonly because: string
}

const numberOf = (row: Row, { isFile }: Change): number => Number(isFile ? row.id : row.n)

const holdsVersion = (row: Row): boolean =>
  row.kept === undefined ? row.operation !== null : row.kept === true

const wasBrought = ({ row }: Change): boolean => (row.event ?? row.operation) === 'import'

const wasPruned = (change: Change): boolean => numberOf(change.row, change) < change.first

/** The version before or after is not there, so nothing says which number or memory it had. */
function isAlone({ row, rows }: Change): boolean {
  const neighbours = [...rows.values()].filter(
    (each) =>
      each.agent_id === row.agent_id &&
      holdsVersion(each) &&
      (each.previous === row.n || row.previous === each.n),
  )
  return neighbours.every((each) => Math.abs(Number(each.version) - Number(row.version)) !== 1)
}

const explained: readonly Explained[] = [
  {
    of: 'homes',
    columns: ['day', 'day_writes', 'erasures', 'last_vector', 'oldest', 'imports'],
    because: 'a count for statistics or for what comes next: it says nothing of a memory',
  },
  {
    of: 'homes',
    columns: ['floor'],
    because:
      'how high forgotten deletions went: new memories begin above it, and those have events',
  },
  {
    of: 'memories',
    columns: ['protected'],
    where: ({ row, first, rows }) =>
      first > 1 ||
      [...rows.values()].some(
        ({ agent_id, key, event, operation }) =>
          agent_id === row.agent_id &&
          key === row.key &&
          ['import', 'rename'].includes(String(event ?? operation)),
      ),
    because: 'an import and a rename bring the mark, and their events do not tell of it',
  },
  {
    of: 'memories',
    columns: ['id', 'created_at', 'updated_at'],
    where: ({ row }) => row.deleted !== 0 && row.deleted !== false && row.n === null,
    because: 'of a memory that was erased or moved away nothing is kept but that it ended',
  },
  {
    of: 'memories',
    columns: ['kept', 'run'],
    on: 'sqlite',
    because:
      'bounds: fewer versions are there after pruning, and what is counted low is searched for',
  },
  {
    of: 'log',
    columns: ['author', 'updated_at', 'operation', 'memory_id', 'created_at', 'made_as'],
    where: wasBrought,
    because: 'an import’s event commits to the version and its text, not to what else it brought',
  },
  {
    of: 'log',
    columns: ['event'],
    on: 'postgres',
    where: ({ row, to }) => to === row.operation,
    because: 'it says what the operation says already',
  },
  {
    of: 'log',
    columns: [
      ...['hash', 'event', 'author', 'updated_at', 'renamed_from', 'event_author', 'happened_at'],
      ...['operation', 'memory_id', 'created_at', 'version', 'key', 'before'],
    ],
    where: wasPruned,
    because: 'the event was pruned: its version is kept, and is no longer proven',
  },
  {
    of: 'log',
    columns: ['memory_id', 'created_at'],
    where: isAlone,
    because:
      'events do not tell of them, and the version before or after, which has the same, is gone',
  },
  {
    of: 'log',
    columns: ['bytes', 'size', 'previous', 'memory_id', 'created_at'],
    where: ({ row }) => !holdsVersion(row),
    because: 'the row holds an event alone: its version was pruned or erased, or it made none',
  },
  {
    of: 'log',
    columns: ['previous'],
    where: ({ row, rows }) => !rows.has(`${row.agent_id} ${row.previous}`),
    because: 'it names a version that was pruned',
  },
  {
    of: 'log',
    columns: ['before'],
    on: 'sqlite',
    where: ({ to }) => to === null,
    because: 'the row is in the index already',
  },
]

const literal = (isFile: boolean, value: Value): string => {
  if (value === null) return 'NULL'
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  if (typeof value === 'boolean' || typeof value === 'number') return String(value)
  const hex = Buffer.from(value).toString('hex')
  return isFile ? `X'${hex}'` : `'\\x${hex}'`
}

const FLAGS = new Set(['deleted', 'pinned', 'protected'])

/** Where no number is taken yet. */
const BEYOND = 1_000

const lentBy = (of: readonly Row[], column: string, value: Value): Value =>
  of.map((row) => row[column] ?? null).find((each) => each !== null && !isSame(each, value)) ?? 1

const isSame = (one: Value, other: Value): boolean => String(one) === String(other)

function changed(column: string, value: Value, of: readonly Row[]): Value {
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'number') return lentBy(of, column, value)
  if (FLAGS.has(column)) return 1 - value
  return column === 'n' || column === 'id' ? value + BEYOND : value + 1
}

/** Nothing, and what another row has or could have. */
const othersThan = (column: string, value: Value, of: readonly Row[]): Value[] =>
  value === null ? [changed(column, value, of)] : [changed(column, value, of), null]

/** A key, a number or a reference that the database itself refuses. */
const IS_REFUSED = /constraint|cannot store NULL|datatype mismatch/

describe.each(engines)('on $name', (on) => {
  const isFile = on.name === 'sqlite'
  let lived: Lived
  beforeAll(async () => {
    lived = await liveOn(on, liveThroughAll)
  })
  afterAll(() => lived.drop())

  const reasonFor = (table: Table, column: string, change: Change): Explained | undefined =>
    explained.find(
      ({ of, columns, on: only = on.name, where = () => true }) =>
        of === table && only === on.name && columns.includes(column) && where(change),
    )

  /** Statements that change one column of one row each. */
  function* changesOf(table: Table, all: readonly Row[]) {
    for (const row of all) {
      const names = PLACES[table].map((each) => `${each} = ${literal(isFile, row[each] ?? null)}`)
      for (const column of Object.keys(row)) {
        for (const to of othersThan(column, row[column] ?? null, all)) {
          const set = `${column} = ${literal(isFile, to)}`
          yield { row, column, to, sql: `UPDATE ${table} SET ${set} WHERE ${names.join(' AND ')}` }
        }
      }
    }
  }

  test('each change of a column is noticed or explained', async () => {
    const { ask, firstFaults, end } = await lived.begin()
    expect(await firstFaults()).toEqual([])
    const homes = await ask('SELECT agent_id, first_event FROM homes')
    const firstOf = new Map(homes.map((row) => [row.agent_id, Number(row.first_event)]))
    const log = await ask('SELECT * FROM log')
    const rows = new Map(log.map((row) => [`${row.agent_id} ${row.n}`, row]))
    const used = new Set<Explained>()
    const unseen: string[] = []

    async function isNoticed(sql: string): Promise<boolean> {
      await ask('SAVEPOINT changed')
      try {
        await ask(sql)
        return (await firstFaults()).length > 0
      } catch (error) {
        if (!IS_REFUSED.test(String(error))) throw error
        return true
      } finally {
        await ask('ROLLBACK TO changed')
        await ask('RELEASE changed')
      }
    }

    for (const table of Object.keys(PLACES) as Table[]) {
      if (table === 'log_index' && !isFile) continue
      for (const { sql, column, row, to } of changesOf(
        table,
        await ask(`SELECT * FROM ${table}`),
      )) {
        if (await isNoticed(sql)) continue
        const first = firstOf.get(row.agent_id ?? '') ?? 1
        const reason = reasonFor(table, column, { row, to, first, rows, isFile })
        if (reason) used.add(reason)
        else unseen.push(sql)
      }
    }
    await end()
    expect(unseen).toEqual([])
    const here = explained.filter(({ on: only = on.name }) => only === on.name)
    expect(here.filter((each) => !used.has(each))).toEqual([])
  })
})
