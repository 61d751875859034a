/**
 * Stages an import in slices: short transactions that do not lock the home. Rows are written as
 * they will be if their keys do not change in the meantime.
 */
import { authorOf } from '../../answers.ts'
import type { Arriving } from '../../import-pieces.ts'
import {
  type Fate,
  followImport,
  isTooMuch,
  type Newest,
  NOTHING_BROUGHT,
  operationOf,
  withBrought,
} from '../../import-plan.ts'
import type { Ledger } from '../../plan.ts'
import type { Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportOrder } from '../../port/transfer.ts'
import { BLOCK } from '../../rows.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import {
  type Done,
  type Found,
  type HeadRow,
  headOf,
  type LogRow,
  saveLog,
} from '../keeping/effects.ts'
import { isAmong } from '../keeping/log.ts'
import { type Ahead, mayGoOn } from './ahead.ts'
import { earlierRow, isPin, newestOf, newestRow, nextRow, type Place } from './import-rows.ts'

/** A range of rows, inclusive. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/** What to do with a key. */
export interface Step {
  readonly newest: Newest
  /** Bytes of all its versions. */
  readonly bytes: number
  /** Versions in the source. */
  readonly versions: number
  readonly pinned: boolean
  /** The newest version's row, and the fate it was staged with; null if it was not staged. */
  readonly n: number | null
  readonly fate: Fate
  /** The rows of the earlier versions. */
  readonly earlier: Stretch | null
}

/** A key whose versions are still arriving. */
interface Open {
  readonly bytes: number
  readonly versions: number
  readonly earlier: Stretch | null
  /** Some versions were not staged, because the key was not new at the time. */
  readonly skipped: boolean
}

const NOTHING: Open = { bytes: 0, versions: 0, earlier: null, skipped: false }

const LEFT_OUT: Fate = { fate: 'left_out' }

const selectHeads = statement<HeadRow>(`
  SELECT key, id, version, created_at, updated_at, deleted, size, pinned, protected, n
  FROM memories WHERE agent_id = $1 AND key = ANY($2::TEXT[])`)

export async function headsUnder(
  ask: Ask,
  agentId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  const rows = await ask(selectHeads, agentId, keys)
  return new Map(rows.map((row) => [row.key, headOf(row)]))
}

const removeRows = statement(`
  WITH staged AS (
    SELECT l.n FROM unnest($2::BIGINT[], $3::BIGINT[]) AS t (first, last) CROSS JOIN LATERAL (
      SELECT n FROM log WHERE agent_id = $1 AND n >= t.first AND n <= t.last OFFSET 0
    ) AS l
  )
  DELETE FROM log l WHERE l.agent_id = $1 AND ${isAmong('SELECT n FROM staged')}`)

export const removeStretches = (
  ask: Ask,
  agentId: string,
  stretches: readonly Stretch[],
): Promise<unknown> =>
  ask(
    removeRows,
    agentId,
    stretches.map(({ from }) => from),
    stretches.map(({ to }) => to),
  )

export interface Importing {
  readonly identity: Identity
  /** As of the start of the import. */
  readonly home: Ledger
  readonly order: ImportOrder
  readonly bounds: HomeBounds
  readonly now: number
}

/** The rows of a slice, and staged rows of the same keys that are not needed. */
interface Slice {
  readonly log: LogRow[]
  readonly surplus: Stretch[]
}

const keysOf = (versions: readonly Arriving[]): string[] => [
  ...new Set(versions.map(({ key }) => key)),
]

const rowOf = (
  version: Arriving,
  fate: Fate,
  order: ImportOrder,
  place: Place,
  done: Done,
): LogRow =>
  fate.fate === 'next'
    ? nextRow(version, fate.next, operationOf(version, order), place, done)
    : newestRow(version, place, done)

/**
 * Takes versions in order. The newest of each key are in a range of their own, to be found
 * together.
 */
function takeVersions({ identity, home, order, bounds, now }: Importing, place: number) {
  const following = followImport(home, order, bounds, now)
  const steps: Step[] = []
  const done = { by: authorOf(identity), now }
  let [earlier, newest] = [place, place + BLOCK / 2]
  let open = NOTHING
  let isDry = order.dryRun
  let brought = NOTHING_BROUGHT

  function pass(slice: Slice, version: Arriving, found: Found | undefined): void {
    const bytes = open.bytes + newestOf(version).size
    if (found || isDry) {
      open = { ...open, bytes, skipped: open.skipped || found !== undefined }
      return
    }
    const n = earlier++
    slice.log.push(earlierRow(version, { n, previous: open.earlier?.to ?? null }))
    open = { ...open, bytes, earlier: { from: open.earlier?.from ?? n, to: n } }
  }

  function write(slice: Slice, version: Arriving, fate: Fate, found: Found | undefined) {
    if (isDry || fate.fate === 'left_out') return null
    const n = newest++
    const previous = (fate.fate === 'next' ? found?.n : open.earlier?.to) ?? null
    slice.log.push(rowOf(version, fate, order, { n, previous }, done))
    return n
  }

  /** The key is complete. */
  function end(slice: Slice, version: Arriving, found: Found | undefined): void {
    const facts = newestOf(version)
    const bytes = open.bytes + facts.size
    const met = following.meet(facts, found, bytes)
    // If this turns out to be wrong at the end, the import is retried.
    const fate = open.skipped && met.fate === 'as_it_was' ? LEFT_OUT : met
    const n = write(slice, version, fate, found)
    const kept = fate.fate === 'as_it_was' ? open.earlier : null
    if (open.earlier && !kept) slice.surplus.push(open.earlier)
    const { versions } = open
    steps.push({ newest: facts, bytes, versions, pinned: isPin(version), n, fate, earlier: kept })
    open = NOTHING
    isDry ||= following.fails()
    brought = withBrought(brought, facts, fate)
  }

  return {
    steps,
    isTooMuch: () => isTooMuch(brought, home, bounds),
    take(versions: readonly Arriving[], heads: ReadonlyMap<string, Found>): Slice {
      const slice: Slice = { log: [], surplus: [] }
      for (const version of versions) {
        open = { ...open, versions: open.versions + 1 }
        const step = version.isNewest ? end : pass
        step(slice, version, heads.get(version.key))
      }
      return slice
    },
  }
}

type Staged =
  | { readonly outcome: 'staged'; readonly steps: readonly Step[] }
  | { readonly outcome: 'lost' }
  | { readonly outcome: 'over_quota' }

interface Writing {
  readonly connections: Connections
  /** Undefined in a dry run. */
  readonly ahead: Ahead | undefined
  readonly committed: () => void
}

/** False if another node has removed the staged rows. */
async function save(
  { connections: { transact }, ahead, committed }: Writing,
  identity: Identity,
  { log, surplus }: Slice,
): Promise<boolean> {
  if (!ahead || log.length === 0) return true
  const { agentId } = identity
  const saved = await transact(async (ask) => {
    if (!(await mayGoOn(ask, identity, ahead))) return false
    await saveLog(ask, [agentId], log)
    if (surplus.length > 0) await removeStretches(ask, agentId, surplus)
    return true
  })
  if (saved) committed()
  return saved
}

export async function stageImport(
  writing: Writing,
  pieces: AsyncIterable<readonly Arriving[]>,
  importing: Importing,
): Promise<Staged> {
  const { identity } = importing
  const { read } = writing.connections
  const taking = takeVersions(importing, writing.ahead?.place ?? 0)
  for await (const versions of pieces) {
    const heads = await headsUnder(read, identity.agentId, keysOf(versions))
    const slice = taking.take(versions, heads)
    if (taking.isTooMuch()) return { outcome: 'over_quota' }
    if (!(await save(writing, identity, slice))) return { outcome: 'lost' }
  }
  return { outcome: 'staged', steps: taking.steps }
}
