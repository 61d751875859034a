/** The memories of a list, one page of them, by the home's own verbs. */

import { cursors } from '../../../home/memories/list.ts'
import { CURSOR, cursorOf, cursorText, searchInTurn } from '../../../home/memories/search.ts'
import { refusal } from '../../../home/refusal.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { MemorySummary } from '../../../store/port/keeping/memories.ts'
import type { SearchHit } from '../../../store/port/keeping/search.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import type { Listing } from './listing.ts'

export const MEMORIES_PER_PAGE = 25

/** All of their texts and metadata fit. */
const PAGE_BYTES = 1_048_576

const PREVIEW_CHARS = 160

export interface Row extends Pick<MemorySummary, 'key' | 'version' | 'bytes' | 'updatedAt'> {
  /** What of its text is shown, on one line. */
  readonly preview: string
  readonly pinned: boolean
}

export interface Found {
  readonly rows: readonly Row[]
  /** Where the pages in front of this one and behind it are; undefined where there is none. */
  readonly back: Listing | undefined
  readonly on: Listing | undefined
}

export const isPinned = (metadata: string): boolean =>
  (JSON.parse(metadata) as { pinned?: unknown }).pinned === true

/** Characters are not cut in half. */
const shortened = (line: string): string => {
  const characters = [...line.slice(0, 2 * PREVIEW_CHARS)]
  return characters.length <= PREVIEW_CHARS
    ? line
    : `${characters.slice(0, PREVIEW_CHARS - 1).join('')}…`
}

const firstLine = (text: string): string => /\S[^\r\n]*/.exec(text)?.[0] ?? ''

function rowOf(memory: MemorySummary | SearchHit): Row {
  const { key, version, bytes, updatedAt, metadata } = memory
  const shown = 'snippet' in memory ? memory.snippet : undefined
  const preview = shown ?? shortened(firstLine(memory.text ?? ''))
  return { key, version, bytes, updatedAt, preview, pinned: isPinned(metadata) }
}

const from = (listing: Listing, place: Pick<Listing, 'after' | 'until'>): Listing => {
  const { after: _, until: __, ...shown } = listing
  return { ...shown, ...place }
}

const cursorIn = ({ key, change }: MemorySummary, { order }: Listing): string =>
  order === 'key' ? key : String(change)

/** A place in another order is none in this one. */
const placeIn = ({ order }: Listing, cursor: string | undefined): string | undefined =>
  cursor !== undefined && cursors[order].test(cursor) ? cursor : undefined

async function page({ store }: Workspace, identity: Identity, listing: Listing) {
  const { prefix, order, pinned } = listing
  const after = placeIn(listing, listing.after)
  const before = placeIn(listing, listing.until)
  const bounds = { limit: MEMORIES_PER_PAGE, maxBytes: PAGE_BYTES, whole: true }
  const query = { prefix, order, after, before, pinned: Boolean(pinned), ...bounds }
  const found = await store.listMemories(identity, query)
  if (found.outcome !== 'memories') throw refusal(found)
  return { ...found, after, before }
}

async function listed(workspace: Workspace, identity: Identity, listing: Listing): Promise<Found> {
  const { memories, next, after, before } = await page(workspace, identity, listing)
  // So near the beginning the page would be short: the first one is shown.
  if (before !== undefined && next === undefined) {
    return listed(workspace, identity, from(listing, {}))
  }
  const [first, last] = [memories[0], memories.at(-1)]
  const until = before === undefined ? after && first && cursorIn(first, listing) : next
  const behind = before === undefined ? next : last && cursorIn(last, listing)
  return {
    rows: memories.map(rowOf),
    back: until === undefined ? undefined : from(listing, { until }),
    on: behind === undefined ? undefined : from(listing, { after: behind }),
  }
}

type Visit = Pick<AgentVisit, 'call' | 'identity'>

/** A search looks on; back it leads to the best. */
async function hits(
  { call, identity }: Visit,
  workspace: Workspace,
  listing: Listing,
): Promise<Found> {
  const { q, prefix, pinned, after: cursor } = listing
  const after = cursor !== undefined && CURSOR.test(cursor) ? cursorOf(cursor) : undefined
  const query = { q, prefix, pinned: Boolean(pinned), limit: MEMORIES_PER_PAGE, after }
  const found = await searchInTurn(workspace, clientOf(call, workspace), identity, query)
  return {
    rows: found.hits.map(rowOf),
    back: after && from(listing, {}),
    on: found.next && from(listing, { after: cursorText(found.next) }),
  }
}

/** Throws `overloaded` where too many search. */
export const findMemories = (
  visit: Visit,
  workspace: Workspace,
  listing: Listing,
): Promise<Found> =>
  listing.q.trim() === ''
    ? listed(workspace, visit.identity, listing)
    : hits(visit, workspace, listing)
