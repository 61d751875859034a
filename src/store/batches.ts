/**
 * Imports and rollbacks: ordinary changes in batches, between an event that says that they began and
 * one that says that they ended. What fits one batch is one transaction. Of a longer one a row in
 * `unfinished` tells while it goes on; what was left unfinished by a process that ended is settled
 * before the home is served again (see settle.ts).
 */
import type { Brought, Way } from './bring.ts'
import type { Head } from './change.ts'
import type { Counters } from './plan.ts'
import type { HomeEvent } from './port/events.ts'
import type { Author, Identity, Refused } from './port/identity.ts'
import type { ImportAnswer, RollbackOrder, TakenBack } from './port/transfer.ts'
import type { Line, PlaceNow, StateBefore } from './verbs/states-before.ts'

/** Others wait at most for one batch. */
const VERSIONS_PER_BATCH = 100
const BYTES_PER_BATCH = 524_288

/** What is asked of a rollback, besides whether to make it. */
export type Wanted = Omit<RollbackOrder, 'dryRun'>

export type Beginning =
  | { readonly type: 'begin_import' }
  /** `parts`: how many changes it is to make. */
  | { readonly type: 'rollback'; readonly wanted: Wanted; readonly parts: number }

export type Ending = 'end_import' | 'undo_import' | 'end_rollback'

/** An import or a rollback that has begun. */
export interface Begun {
  /** The event that says so. */
  readonly event: number
  /** Who goes on with it, where several processes could. */
  readonly holder: string
}

/** A key that gets a version again. */
export interface Back {
  readonly key: string
  /** The row of the version; null: there was no memory. */
  readonly n: number | null
  /** Where the version is now. */
  readonly was: PlaceNow | undefined
  /** Agents may change the memory again. */
  readonly unprotects: boolean
}

/** Which memories are still to be taken back. */
export type Due =
  /** Those that nobody has changed since the rollback began. */
  | { readonly unless: 'changed_since'; readonly event: number }
  /** Those that are as the import left them. */
  | { readonly unless: 'changed_after_import'; readonly event: number }

export interface Batch {
  readonly way: Way
  /** Of the first batch. */
  readonly begin?: Beginning | undefined
  /** Of any other: what it goes on with. */
  readonly begun?: Begun | undefined
  /** Of the last. */
  readonly end?: Ending | undefined
  /** Undefined: all are. */
  readonly due?: Due | undefined
  /** Of an import: the counters before it, on which its quota is judged at the end. */
  readonly since?: Counters | undefined
  /** What is brought, or what is to be as it was. */
  readonly brought?: readonly Brought[]
  readonly back?: readonly Back[]
}

/** The writer: an identity, which may be refused, or the author who began, whose token may be gone. */
export type Actor = Identity | { readonly agentId: string; readonly by: Author }

/** What became of what is taken back. */
export interface Taken {
  readonly skipped: readonly string[]
  readonly changes: readonly TakenBack[]
}

type Imported = Extract<ImportAnswer, { outcome: 'imported' }>

export type BatchAnswer =
  | (Imported & { readonly begun: Begun; readonly taken?: Taken })
  | Exclude<ImportAnswer, Imported>
  /** Another process goes on with it. */
  | { readonly outcome: 'lost' }

/** The counters of a home, and the state of some of its keys. */
export type HeadsAnswer =
  | {
      readonly outcome: 'heads'
      readonly home: Counters
      readonly heads: ReadonlyMap<string, Head>
    }
  | Refused

/** An import or a rollback that its process has left. */
export interface Unfinished extends Begun {
  readonly agentId: string
  readonly by: Author
  /** Undefined: an import. */
  readonly rollback: Wanted | undefined
  /** The time, by the engine's clock. */
  readonly now: number
}

/** What imports and rollbacks ask of an engine. */
export interface BatchStore {
  readHeads(identity: Identity, keys: readonly string[]): Promise<HeadsAnswer>
  /** One transaction. If the answer is not `imported`, nothing was changed. */
  writeBatch(actor: Actor, batch: Batch, now: number): Promise<BatchAnswer>
  /** Homes with something unfinished that nobody goes on with. */
  listUnfinished(): Promise<readonly string[]>
  /** Undefined if there is nothing, or somebody goes on with it: unless that is oneself. */
  takeOver(agentId: string, mine?: Begun): Promise<Unfinished | undefined>
  /** The ids of the retained events; undefined if there is no such home. */
  retainedEvents(agentId: string): Promise<{ first: number; last: number } | undefined>
  /** At most EVENTS_AT_ONCE with after < id <= until, which is at most ROWS_PER_LOOK higher. */
  eventsBetween(
    agentId: string,
    order: 'oldest' | 'newest',
    after: number,
    until: number,
  ): Promise<readonly HomeEvent[]>
  /** Says that it is still gone on with: before the first batch, and between them. */
  goOn(agentId: string, begun: Begun): Promise<void>
  /** Prunes what is over the home's limits: nothing is while something is unfinished. */
  prune(agentId: string): Promise<void>
  stateBefore(agentId: string, line: Line): Promise<StateBefore>
}

/** From this time on, which the first call gets. */
export function clockFrom(now: number, stopwatch: () => number): () => number {
  let from: number | undefined
  return () => {
    from ??= stopwatch()
    return now + Math.round(stopwatch() - from)
  }
}

/** A batch of items, and whether it is the first or the last of them. */
export interface Portion<T> {
  readonly items: readonly T[]
  readonly isFirst: boolean
  readonly isLast: boolean
}

/** What of a batch's size an item takes. */
export interface Weight {
  readonly versions: number
  readonly bytes: number
}

/** Whether these items are one portion. */
export function fitsOne(weights: readonly Weight[]): boolean {
  const versions = weights.reduce((sum, each) => sum + each.versions, 0)
  const bytes = weights.reduce((sum, each) => sum + each.bytes, 0)
  return versions <= VERSIONS_PER_BATCH && bytes <= BYTES_PER_BATCH
}

/** At least one portion, possibly empty. */
export async function* portionsOf<T>(
  source: AsyncIterable<T> | Iterable<T>,
  weigh: (item: T) => Weight,
): AsyncGenerator<Portion<T>> {
  let items: T[] = []
  let isFirst = true
  let [versions, bytes] = [0, 0]
  for await (const item of source) {
    const weight = weigh(item)
    const isFull =
      versions + weight.versions > VERSIONS_PER_BATCH || bytes + weight.bytes > BYTES_PER_BATCH
    if (items.length > 0 && isFull) {
      yield { items, isFirst, isLast: false }
      items = []
      isFirst = false
      ;[versions, bytes] = [0, 0]
    }
    items.push(item)
    versions += weight.versions
    bytes += weight.bytes
  }
  yield { items, isFirst, isLast: true }
}
