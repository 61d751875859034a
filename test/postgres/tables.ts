/** The tables of one home on PostgreSQL: whatever was done, everything in them agrees. */
import { expect } from 'vitest'
import type { HomeBounds } from '../../src/store/port/store.ts'
import { statement } from '../../src/store/postgres/engine/connections.ts'
import type { Ask } from '../../src/store/postgres/engine/session.ts'
import type { StateRow } from '../../src/store/postgres/memories/states.ts'
import { surplusOf } from '../../src/store/surplus.ts'
import type { PlainHome } from '../store/memories/plain-home.ts'

interface HomeRow {
  memories: number
  bytes: number
  history: number
  deleted: number
  last_event: number
  first_event: number
}

const homes = statement<HomeRow>('SELECT * FROM homes WHERE agent_id = $1')
interface LogRow {
  n: number
  previous: number | null
  kept: boolean
  key: string | null
  operation: string
  event: string | null
  version: number
  memory_id: string | null
  created_at: number | null
  updated_at: number
  happened_at: number | null
  bytes: number
  size: number
  text: string | null
  metadata: string | null
}

const heads = statement<StateRow>('SELECT * FROM memories WHERE agent_id = $1')
const log = statement<LogRow>('SELECT * FROM log WHERE agent_id = $1 ORDER BY n')

export interface Tables {
  readonly home: HomeRow
  readonly heads: readonly StateRow[]
  readonly log: readonly LogRow[]
}

export async function tablesOf(ask: Ask, agentId: string): Promise<Tables> {
  const [home] = await ask(homes, agentId)
  if (!home) throw new Error('the home is not there')
  return { home, heads: await ask(heads, agentId), log: await ask(log, agentId) }
}

const sum = (rows: readonly { readonly size: number }[]): number =>
  rows.reduce((all, { size }) => all + size, 0)

const octets = (text: string | null): number => Buffer.byteLength(text ?? '')

/** Each version is one of a memory, reached from its newest by older and older ones. */
function checkChains({ heads, log }: Tables, { versions }: HomeBounds): void {
  const kept = new Map(log.filter((row) => row.kept).map((row) => [row.n, row]))
  const reached: number[] = []
  for (const head of heads) {
    const chain: LogRow[] = []
    for (let at = kept.get(head.n ?? 0); at; at = kept.get(at.previous ?? 0)) {
      const above = chain.at(-1)
      if (above) expect([above.n > at.n, above.version > at.version]).toEqual([true, true])
      chain.push(at)
    }
    checkHead(head, chain[0])
    // A rename may pass over a number at which they would have given way.
    if (versions > 0) expect(chain.length).toBeLessThan(versions + 2 * surplusOf(versions))
    reached.push(...chain.map(({ n }) => n))
  }
  expect(reached.toSorted((a, b) => a - b)).toEqual([...kept.keys()])
}

function checkHead(head: StateRow, newest: LogRow | undefined): void {
  const { n, version, size, pinned, deleted } = head
  expect([n, version]).toEqual([newest?.n ?? null, newest?.version ?? version])
  expect(size).toBe(deleted ? 0 : newest?.size)
  expect(pinned).toBe(JSON.parse(newest?.metadata ?? '{}').pinned === true)
  if (!deleted) expect(newest?.text).toBeTypeOf('string')
}

/** What is neither a version nor an event that is kept is not there. */
function checkLog({ home, log }: Tables, { events }: HomeBounds): void {
  const { first_event: first, last_event: last } = home
  const told = log.filter(({ n }) => n >= first)
  expect(told.map(({ n }) => n)).toEqual(told.map((_, at) => first + at))
  expect(told.length).toBe(last - first + 1)
  expect(told.length).toBeGreaterThanOrEqual(Math.min(last, events || last))
  if (events > 0) expect(told.length).toBeLessThan(events + 64)
  expect(log.filter(({ n, kept }) => n < first && !kept)).toEqual([])
  const isMeasured = ({ kept, bytes, size, text, metadata }: LogRow): boolean =>
    kept ? bytes === octets(text) && size === octets(text) + octets(metadata) : text === null
  expect(log.filter((row) => !isMeasured(row))).toEqual([])
}

/** Everything in the tables of one home agrees. */
export function checkHome(tables: Tables, limits: HomeBounds): void {
  const { home, heads, log } = tables
  checkChains(tables, limits)
  checkLog(tables, limits)
  const living = heads.filter((head) => !head.deleted)
  const bytes = sum(living)
  const history = sum(log.filter(({ kept }) => kept)) - bytes
  const deleted = heads.length - living.length
  expect(home).toMatchObject({ memories: living.length, bytes, history, deleted })
  if (limits.bytes > 0) expect(bytes + history).toBeLessThanOrEqual(limits.bytes)
}

/** What lies under each key is what the plain home has there. */
export function checkHeads({ heads }: Tables, { lies }: PlainHome): void {
  const is = heads.map(({ key, id, version, created_at, updated_at, deleted }) => {
    return [key, { id, version, createdAt: created_at, updatedAt: updated_at, deleted }]
  })
  const ought = [...lies].map(([key, { head }]) => {
    const { id, version, createdAt, updatedAt, deleted } = head
    return [key, { id, version, createdAt, updatedAt, deleted }]
  })
  expect(Object.fromEntries(is)).toEqual(Object.fromEntries(ought))
}
