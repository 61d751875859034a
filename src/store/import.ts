/** Imports: tried as a whole, then written in batches; taken back if one of them cannot be written. */
import {
  type Batch,
  type BatchAnswer,
  type BatchStore,
  type Begun,
  clockFrom,
  type Portion,
  portionsOf,
} from './batches.ts'
import { type Brought, bytesOf, followBrought, type Way } from './bring.ts'
import type { Counters } from './plan.ts'
import { OutcomeUnknown, StoreUnavailable } from './port/errors.ts'
import type { Identity, Refused } from './port/identity.ts'
import type { HomeBounds } from './port/store.ts'
import {
  type ImportAnswer,
  type Imported,
  type ImportOrder,
  type ImportSource,
  type KeptVersion,
  MOST_CONFLICTS,
} from './port/transfer.ts'
import type { Settle } from './settle.ts'

const weigh = ({ versions }: Brought) => ({
  versions: versions.length,
  bytes: versions.reduce((sum, version) => sum + bytesOf(version), 0),
})

/** The versions of each key together; of a long history the newest that a home keeps. */
async function* keysOf(source: ImportSource, bounds: HomeBounds): AsyncGenerator<Brought> {
  const mostVersions = bounds.versions || Number.MAX_SAFE_INTEGER
  const mostBytes = bounds.bytes || Number.MAX_SAFE_INTEGER
  let versions: KeptVersion[] = []
  let [found, bytes] = [0, 0]
  const whole = (key: string): Brought => ({ key, versions, found })
  for await (const page of source) {
    for (const version of page) {
      const key = versions[0]?.key
      if (key !== undefined && key !== version.key) {
        yield whole(key)
        versions = []
        ;[found, bytes] = [0, 0]
      }
      versions.push(version)
      found++
      bytes += bytesOf(version)
      while (versions.length > mostVersions || (versions.length > 1 && bytes > mostBytes)) {
        bytes -= bytesOf(versions.shift() as KeptVersion)
      }
    }
  }
  const [last] = versions
  if (last) yield whole(last.key)
}

interface Foreseen {
  readonly answer: ImportAnswer
  /** The counters before it. */
  readonly since: Counters | undefined
}

/** What the import would do now. */
async function foresee(
  { readHeads }: BatchStore,
  identity: Identity,
  portions: AsyncIterable<Portion<Brought>>,
  way: Way,
  bounds: HomeBounds,
  now: number,
): Promise<Foreseen> {
  let since: Counters | undefined
  let following: ReturnType<typeof followBrought> | undefined
  for await (const { items } of portions) {
    const found = await readHeads(
      identity,
      items.map(({ key }) => key),
    )
    if (found.outcome !== 'heads') return { answer: found, since }
    since ??= found.home
    following ??= followBrought(found.home, way, bounds)
    for (const each of items) following.meet(each, found.heads.get(each.key), now)
    if (following.isTooMuch()) return { answer: { outcome: 'over_quota' }, since }
  }
  if (!following) throw new Error('there is a last portion')
  return { answer: following.refusal() ?? following.answer(), since }
}

const some = (keys: readonly string[]): readonly string[] => keys.slice(0, MOST_CONFLICTS)

function together(a: Imported, b: Imported): Imported {
  const historyLeftOut = (a.historyLeftOut ?? 0) + (b.historyLeftOut ?? 0)
  const isProtected = some([...(a.protected ?? []), ...(b.protected ?? [])])
  return {
    imported: a.imported + b.imported,
    skipped: a.skipped + b.skipped,
    conflicts: some([...a.conflicts, ...b.conflicts]),
    ...(historyLeftOut > 0 && { historyLeftOut }),
    ...(isProtected.length > 0 && { protected: isProtected }),
  }
}

const NOTHING: Imported = { imported: 0, skipped: 0, conflicts: [] }

type Failed = Exclude<BatchAnswer, { outcome: 'imported' }>

function failedOf(answer: Failed, begun: Begun | undefined): ImportAnswer | Refused {
  if (answer.outcome !== 'lost') return answer
  throw new StoreUnavailable(
    begun ? 'another process has taken the import back' : 'another import or rollback goes on',
  )
}

export interface ImportParts {
  readonly store: BatchStore
  readonly bounds: HomeBounds
  readonly settle: Settle
}

/** What is written of it so far. */
interface Writing {
  begun?: Begun
  total: Imported
}

/** Undefined once it is whole, or why it cannot be. */
async function writeAll(
  { writeBatch }: BatchStore,
  identity: Identity,
  portions: AsyncIterable<Portion<Brought>>,
  shared: Pick<Batch, 'way' | 'since'>,
  clock: () => number,
  writing: Writing,
): Promise<ImportAnswer | Refused | undefined> {
  for await (const { items, isFirst, isLast } of portions) {
    const batch = {
      ...{ ...shared, begun: writing.begun, brought: items },
      begin: isFirst ? ({ type: 'begin_import' } as const) : undefined,
      end: isLast ? ('end_import' as const) : undefined,
    }
    const answer = await writeBatch(identity, batch, clock())
    if (answer.outcome !== 'imported') return failedOf(answer, writing.begun)
    writing.begun = answer.begun
    writing.total = together(writing.total, answer)
  }
  return undefined
}

/** Throws OutcomeUnknown if it has to be taken back later. */
async function takeBack({ settle }: ImportParts, agentId: string, begun?: Begun): Promise<void> {
  try {
    await settle.home(agentId, begun)
  } catch (cause) {
    throw new OutcomeUnknown('the import is neither finished nor taken back yet', { cause })
  }
}

async function write(
  parts: ImportParts,
  identity: Identity,
  portions: AsyncIterable<Portion<Brought>>,
  shared: Pick<Batch, 'way' | 'since'>,
  clock: () => number,
): Promise<ImportAnswer> {
  const { agentId } = identity
  const writing: Writing = { total: NOTHING }
  let failed: ImportAnswer | Refused | undefined
  try {
    failed = await writeAll(parts.store, identity, portions, shared, clock, writing)
  } catch (error) {
    await takeBack(parts, agentId, writing.begun)
    throw error
  }
  if (failed) {
    await takeBack(parts, agentId, writing.begun)
    return failed
  }
  await parts.store.prune(agentId).catch(() => {})
  return { outcome: 'imported', ...writing.total }
}

export const importVerb =
  (parts: ImportParts, stopwatch: () => number) =>
  (
    identity: Identity,
    source: ImportSource,
    { onConflict, dryRun }: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> => {
    const { store, bounds, settle } = parts
    const way = { onConflict, isRollback: false }
    const portions = () => portionsOf(keysOf(source, bounds), weigh)
    return settle.inTurn(identity.agentId, async () => {
      const { answer, since } = await foresee(store, identity, portions(), way, bounds, now)
      if (answer.outcome !== 'imported' || dryRun || answer.imported === 0) return answer
      return write(parts, identity, portions(), { way, since }, clockFrom(now, stopwatch))
    })
  }
