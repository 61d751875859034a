/** A page of a list of memories, or of search results, with previews. */
import { cursors } from '../../../home/memories/list.ts'
import { CURSOR, cursorOf, cursorText, searchInTurn } from '../../../home/memories/search.ts'
import { refusal } from '../../../home/refusal.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { MemorySummary } from '../../../store/port/memories.ts'
import type { SearchHit } from '../../../store/port/search.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import type { Listing } from './listing.ts'

export const MEMORIES_PER_PAGE = 25

/** Enough for all texts and metadata of a page. */
const PAGE_BYTES = 1_048_576

const PREVIEW_CHARS = 160

export interface Piece {
  readonly text: string
  /** Matched by the search. */
  readonly isFound: boolean
}

export interface Row extends Pick<MemorySummary, 'key' | 'version' | 'bytes' | 'updatedAt'> {
  /** An excerpt of the text, on one line. */
  readonly preview: readonly Piece[]
  readonly pinned: boolean
  /** False in search results, which do not contain it. */
  readonly protected: boolean
  /** Words of it that were looked for. */
  readonly matched: readonly string[]
}

export interface Found {
  readonly rows: readonly Row[]
  /** The previous and the next page; undefined if there is none. */
  readonly back: Listing | undefined
  readonly on: Listing | undefined
  /** If nothing was found: words that are there, and are spelled alike. */
  readonly near?: readonly string[]
}

export const isPinned = (metadata: string): boolean =>
  (JSON.parse(metadata) as { pinned?: unknown }).pinned === true

/** Without cutting a character in half. */
const shortened = (line: string): string => {
  const characters = [...line.slice(0, 2 * PREVIEW_CHARS)]
  return characters.length <= PREVIEW_CHARS
    ? line
    : `${characters.slice(0, PREVIEW_CHARS - 1).join('')}…`
}

const firstLine = (text: string): string => /\S[^\r\n]*/.exec(text)?.[0] ?? ''

/** Characters before the first match. */
const LEAD = 40

/** Letters of an ending, by which two forms of a word may differ. */
const ENDING = 3

const WORD = /([\p{L}\p{M}\p{N}]+)/u

/** Scripts without case, which may have no spaces between words. */
const UNCASED = /^\p{Lo}/u

/** Whether two words are equal, or may differ by their endings. */
function isLike(found: string, sought: string): boolean {
  const stem = sought.slice(0, Math.max(ENDING + 1, sought.length - ENDING))
  const most = sought.length + (sought.length > ENDING ? ENDING : 0)
  return found.length <= most && found.startsWith(stem)
}

/** Words are compared one by one, because one pattern of many words takes 100 ms to compile. */
function piecesOf(line: string, matched: readonly string[]): readonly Piece[] {
  const sought = matched.map((word) => word.toLowerCase())
  const uncased = sought.filter((word) => UNCASED.test(word)).map(RegExp.escape)
  const anywhere = uncased.length > 0 ? new RegExp(`(${uncased.join('|')})`, 'u') : undefined
  return line.split(WORD).flatMap((text, at) => {
    if (at % 2 === 0) return [{ text, isFound: false }]
    const word = text.toLowerCase()
    if (anywhere && UNCASED.test(word)) {
      return text.split(anywhere).map((each, n) => ({ text: each, isFound: n % 2 === 1 }))
    }
    return [{ text, isFound: sought.some((each) => isLike(word, each)) }]
  })
}

const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('')

/** On one line, from shortly before the first match. */
function foundIn(text: string, matched: readonly string[]): readonly Piece[] {
  const pieces = piecesOf(text.normalize('NFC').replace(/\s+/gu, ' ').trim(), matched)
  const first = pieces.findIndex(({ isFound }) => isFound)
  const before = textOf(pieces.slice(0, Math.max(0, first)))
  if (before.length <= LEAD) return pieces
  const space = before.indexOf(' ', before.length - LEAD)
  const lead = space < 0 ? '' : before.slice(space + 1)
  return [{ text: `…${lead}`, isFound: false }, ...pieces.slice(first)]
}

const previewOf = (memory: MemorySummary | SearchHit): readonly Piece[] =>
  'matched' in memory
    ? foundIn(memory.text ?? memory.snippet ?? '', memory.matched)
    : [{ text: shortened(firstLine(memory.text ?? '')), isFound: false }]

export function rowOf(memory: MemorySummary | SearchHit): Row {
  const { key, version, bytes, updatedAt, metadata } = memory
  const preview = previewOf(memory)
  const marks = {
    pinned: isPinned(metadata),
    protected: 'protected' in memory && memory.protected === true,
  }
  const matched = 'matched' in memory ? memory.matched : []
  return { key, version, bytes, updatedAt, preview, matched, ...marks }
}

const from = (listing: Listing, place: Pick<Listing, 'after' | 'until'>): Listing => {
  const { after: _, until: __, ...shown } = listing
  return { ...shown, ...place }
}

/** Orders that the store has; the others come from the search, whose thread knows every memory. */
const orderIn = ({ order }: Listing): 'key' | 'changed' => (order === 'key' ? 'key' : 'changed')

const cursorIn = ({ key, change }: MemorySummary, { order }: Listing): string =>
  order === 'key' ? key : String(change)

/** A cursor of the other order is ignored. */
const placeIn = (listing: Listing, cursor: string | undefined): string | undefined =>
  cursor !== undefined && cursors[orderIn(listing)].test(cursor) ? cursor : undefined

async function page({ store }: Workspace, identity: Identity, listing: Listing) {
  const { prefix, pinned } = listing
  const after = placeIn(listing, listing.after)
  const before = placeIn(listing, listing.until)
  const bounds = { limit: MEMORIES_PER_PAGE, maxBytes: PAGE_BYTES, whole: true }
  const query = {
    prefix,
    order: orderIn(listing),
    after,
    before,
    pinned: Boolean(pinned),
    ...bounds,
  }
  const found = await store.listMemories(identity, query)
  if (found.outcome !== 'memories') throw refusal(found)
  return { ...found, after, before }
}

async function listed(workspace: Workspace, identity: Identity, listing: Listing): Promise<Found> {
  const { memories, next, after, before } = await page(workspace, identity, listing)
  // Close to the beginning the page would be short, so the first page is shown.
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

/** A search has no previous page, only a link back to the first. */
async function hits(
  { call, identity }: AgentVisit,
  workspace: Workspace,
  listing: Listing,
): Promise<Found> {
  const { q, prefix, pinned, after: cursor } = listing
  const order =
    isSearch(listing) || listing.order === 'key' || listing.order === 'changed'
      ? undefined
      : listing.order
  const after = cursor !== undefined && CURSOR.test(cursor) ? cursorOf(cursor) : undefined
  const query = {
    q: order ? '' : q,
    order,
    prefix,
    pinned: Boolean(pinned),
    limit: MEMORIES_PER_PAGE,
    suggest: true,
    after,
  }
  const found = await searchInTurn(workspace, clientOf(call, workspace), identity, query)
  return {
    rows: found.hits.map(rowOf),
    back: after && from(listing, {}),
    on: found.next && from(listing, { after: cursorText(found.next) }),
    ...(found.near && { near: found.near }),
  }
}

export const isSearch = ({ q }: Pick<Listing, 'q'>): boolean => q.trim() !== ''

/** Throws `overloaded` during too many searches. */
export const findMemories = (
  visit: AgentVisit,
  workspace: Workspace,
  listing: Listing,
): Promise<Found> =>
  !isSearch(listing) && (listing.order === 'changed' || listing.order === 'key')
    ? listed(workspace, visit.identity, listing)
    : hits(visit, workspace, listing)
