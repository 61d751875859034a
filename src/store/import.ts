/** Imports: tried as a whole, then written in batches; taken back if one of them cannot be written. */
import {
  type BatchAnswer,
  type BatchStore,
  type Begun,
  clockFrom,
  type Portion,
  portionsOf,
} from './batches.ts'
import { type Brought, followBrought, type Way } from './bring.ts'
import { sizeOf } from './change.ts'
import { StoreUnavailable } from './port/errors.ts'
import type { Identity, Refused } from './port/home.ts'
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

const bytesOf = ({ content }: KeptVersion): number => (content ? sizeOf(content) : 0)

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

/** What the import would do now. */
async function foresee(
  { readHeads }: BatchStore,
  identity: Identity,
  portions: AsyncIterable<Portion<Brought>>,
  way: Way,
  bounds: HomeBounds,
  now: number,
): Promise<ImportAnswer> {
  let following: ReturnType<typeof followBrought> | undefined
  for await (const { items } of portions) {
    const found = await readHeads(
      identity,
      items.map(({ key }) => key),
    )
    if (found.outcome !== 'heads') return found
    following ??= followBrought(found.home, way, bounds)
    for (const each of items) following.meet(each, found.heads.get(each.key), now)
    if (following.isTooMuch()) return { outcome: 'over_quota' }
  }
  if (!following) throw new Error('there is a last portion')
  return following.refusal() ?? following.answer()
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

async function write(
  { store, settle }: ImportParts,
  identity: Identity,
  portions: AsyncIterable<Portion<Brought>>,
  way: Way,
  clock: () => number,
): Promise<ImportAnswer> {
  let begun: Begun | undefined
  let total = NOTHING
  let isWhole = false
  try {
    for await (const { items, isFirst, isLast } of portions) {
      const batch = {
        ...{ way, begun, brought: items },
        begin: isFirst ? ({ type: 'begin_import' } as const) : undefined,
        end: isLast ? ('end_import' as const) : undefined,
      }
      const answer = await store.writeBatch(identity, batch, clock())
      if (answer.outcome !== 'imported') return failedOf(answer, begun)
      begun = answer.begun
      total = together(total, answer)
      isWhole = isLast
    }
    await store.prune(identity.agentId).catch(() => {})
    return { outcome: 'imported', ...total }
  } finally {
    // If this fails it is done later.
    if (!isWhole) await settle.home(identity.agentId, begun).catch(() => {})
  }
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
      const foreseen = await foresee(store, identity, portions(), way, bounds, now)
      if (foreseen.outcome !== 'imported' || dryRun || foreseen.imported === 0) return foreseen
      return write(parts, identity, portions(), way, clockFrom(now, stopwatch))
    })
  }
