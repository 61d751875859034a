/** A consistent export: one read transaction on a connection of its own, read in batches. */

import type { DatabaseSync } from 'node:sqlite'
import type { Timers } from '../../../timers.ts'
import { nextTurn } from '../../../turns.ts'
import { markColumns } from '../../marks.ts'
import { StoreUnavailable } from '../../port/errors.ts'
import type { HomeEvent } from '../../port/events.ts'
import type { Identity } from '../../port/identity.ts'
import type { ExportAnswer, ExportedEvents } from '../../port/transfer.ts'
import { endOf, type MemoryRow, memoryOf } from '../../rows.ts'
import { agentReads } from '../../verbs/agents.ts'
import { erasureReads } from '../../verbs/version-reads.ts'
import { openReader, prepare, translate } from '../engine/connection.ts'
import type { LongReads } from '../engine/long-reads.ts'
import { prepareVerbs } from '../engine/run.ts'
import { prepareIdentify } from '../identities.ts'
import { prepareEvents } from '../memories/event-reads.ts'
import { prepareExportHistory } from './kept-versions.ts'

/** Bytes read before the event loop gets a turn, and how long the turn is. */
interface Pace {
  readonly batchBytes: number
  readonly pauseMs: number
}

const ALONE: Pace = { batchBytes: 32 * 1024, pauseMs: 0 }
const BESIDE_OTHERS: Pace = { batchBytes: 8 * 1024, pauseMs: 1 }

/** Others are active if the store was called since the last check. */
function watchOthers(asked: () => number): () => Pace {
  let before = asked()
  return () => {
    const now = asked()
    const pace = now === before ? ALONE : BESIDE_OTHERS
    before = now
    return pace
  }
}

/** How much the export has to yield, and what ends it. */
export interface Circumstances {
  /** Counts calls of the store: while it increases, the export slows down. */
  readonly asked: () => number
  readonly signal?: AbortSignal
  readonly timers: Timers
}

interface Source<T> {
  readonly items: Iterable<T>
  /** Approximate bytes. */
  readonly sizeOf: (item: T) => number
}

async function* read<T>(
  { items, sizeOf }: Source<T>,
  { asked, signal, timers }: Circumstances,
): AsyncGenerator<T[]> {
  const look = watchOthers(asked)
  let pace = look()
  let batch: T[] = []
  let size = 0
  try {
    for (const item of items) {
      batch.push(item)
      size += sizeOf(item)
      if (size < pace.batchBytes) continue
      yield batch
      batch = []
      size = 0
      pace = look()
      await (pace.pauseMs > 0 ? timers.pause(pace.pauseMs) : nextTurn())
    }
  } catch (error) {
    throw signal?.aborted ? new StoreUnavailable('an erasure ended the export') : translate(error)
  }
  if (batch.length > 0) yield batch
}

const OF_AGENT = 'm.agent_id = ? AND m.key >= ? AND m.key < ? AND m.deleted = 0'

/** What to export. */
export interface Wanted {
  readonly identity: Identity
  /** The prefix of keys. */
  readonly prefix: string
  /** Versions retained of a memory; undefined if the history was not requested. */
  readonly versions: number | undefined
}

/** Bytes of a version besides its text. */
const ROW_BYTES = 200

/** Of an event. */
const EVENT_BYTES = 400

const EVENTS_AT_ONCE = 200

function eventsOf(
  db: DatabaseSync,
  identity: Identity,
  circumstances: Circumstances,
): ExportedEvents | undefined {
  const find = prepareEvents(db, () => undefined)
  const page = (after: number) => {
    const found = find(identity, after, EVENTS_AT_ONCE)
    return found.outcome === 'events' ? found : undefined
  }
  const first = page(0)
  function* items(): Generator<HomeEvent> {
    for (let events = first?.events ?? []; ; ) {
      yield* events
      const last = events.at(-1)
      if (!last) return
      events = page(last.id)?.events ?? []
    }
  }
  const previous = first?.previous
  const pages = read({ items: items(), sizeOf: () => EVENT_BYTES }, circumstances)
  return previous && { previous, pages }
}

function begin(db: DatabaseSync, wanted: Wanted, circumstances: Circumstances): ExportAnswer {
  db.exec('BEGIN')
  const { identity, prefix, versions } = wanted
  const { refuse } = prepareIdentify(db)
  const answer = refuse(identity) ?? prepareVerbs(db, agentReads).readProfile(identity)
  if (answer.outcome !== 'profile') return answer
  const counted = prepareVerbs(db, erasureReads).countErasures(identity)
  if (counted.outcome !== 'erasures') return counted
  const bounds = [identity.agentId, prefix, endOf(prefix)]
  const under = prefix
    ? prepare<{ memories: number }>(
        db,
        `SELECT count(*) AS memories FROM memories m WHERE ${OF_AGENT}`,
      )
    : undefined
  const rows = prepare<MemoryRow>(
    db,
    `SELECT m.id, m.key, v.text, v.metadata, m.version, m.created_at, m.updated_at,
       ${markColumns('m')}
     FROM memories m JOIN log v ON v.n = m.n
     WHERE ${OF_AGENT} ORDER BY m.key`,
  )
  const memories = Iterator.from(rows.iterate(...bounds)).map(memoryOf)
  const history =
    versions === undefined
      ? undefined
      : prepareExportHistory(db, versions)(identity.agentId, prefix)
  const withEvents = versions !== undefined && prefix === ''
  const memoryCount = under?.get(...bounds)?.memories ?? answer.memoryCount
  return {
    ...answer,
    outcome: 'export',
    memoryCount,
    erasures: counted.erasures,
    memories: read(
      { items: memories, sizeOf: ({ text, metadata }) => text.length + metadata.length },
      circumstances,
    ),
    history:
      history &&
      read(
        { items: history, sizeOf: ({ content }) => ROW_BYTES + (content?.text.length ?? 0) },
        circumstances,
      ),
    events: withEvents ? eventsOf(db, identity, circumstances) : undefined,
    close: () => close(db),
  }
}

function close(db: DatabaseSync): void {
  if (db.isOpen) db.close()
}

export function openExport(
  path: string,
  wanted: Wanted,
  circumstances: Circumstances,
): ExportAnswer {
  const db = openReader(path)
  let answer: ExportAnswer | undefined
  try {
    answer = begin(db, wanted, circumstances)
    return answer
  } finally {
    if (answer?.outcome !== 'export') close(db)
  }
}

/** An export that `open` opens in its turn; the turn ends when the export is closed or must end. */
export async function whileLetIn(
  { enter }: LongReads,
  { agentId }: Identity,
  open: (signal: AbortSignal) => Promise<ExportAnswer>,
): Promise<ExportAnswer> {
  const { signal, leave } = await enter(agentId)
  let answer: ExportAnswer | undefined
  try {
    answer = await open(signal)
  } finally {
    if (answer?.outcome !== 'export') leave()
  }
  if (answer.outcome !== 'export') return answer
  const opened = answer
  const close = (): void => {
    opened.close()
    leave()
  }
  if (signal.aborted) close()
  else signal.addEventListener('abort', close)
  return { ...opened, close }
}
