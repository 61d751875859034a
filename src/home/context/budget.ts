/** How a context shares its bytes: an item is included in full or left out. */

import type { Call } from '../../http/call.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Memory, MemorySummary } from '../../store/port/memories.ts'
import type { Neighbour, SearchHit } from '../../store/port/search.ts'
import { iso } from '../../time.ts'
import type { Home } from '../home.ts'
import { besideView, searchInTurn } from '../memories/search.ts'
import { refusal } from '../refusal.ts'

export interface ByteBudget {
  /** UTF-8 bytes. */
  readonly left: () => number
  /**
   * Reserves the bytes of an item if `keep` bytes remain afterwards. False: nothing was reserved.
   */
  readonly take: (item: string, keep?: number) => boolean
}

const SEPARATOR_BYTES = 1

/** Between the items of a list. */
export const bytesIn = (item: string): number => Buffer.byteLength(item) + SEPARATOR_BYTES

export function byteBudget(bytes: number): ByteBudget {
  let left = bytes
  return {
    left: () => left,
    take(item, keep = 0) {
      const size = bytesIn(item)
      if (size > left - keep) return false
      left -= size
      return true
    },
  }
}

/** The minimum size of a memory as JSON; escapes only add to it. */
const leastOf = ({ bytes, metadata, key }: MemorySummary): number =>
  bytes + Buffer.byteLength(metadata) + key.length

/**
 * The next items that may all fit, to be read, and the rest. Items that can no longer fit are in
 * neither.
 */
export function nextToRead(
  memories: readonly MemorySummary[],
  left: number,
): { readonly batch: readonly MemorySummary[]; readonly rest: readonly MemorySummary[] } {
  const fitting = memories.filter((memory) => leastOf(memory) <= left)
  let size = 0
  const end = fitting.findIndex((memory) => {
    size += leastOf(memory)
    return size > left
  })
  return end < 0
    ? { batch: fitting, rest: [] }
    : { batch: fitting.slice(0, end), rest: fitting.slice(end) }
}

/** A memory without its id, its time of creation, and empty metadata. */
interface Item extends Pick<MemorySummary, 'key' | 'metadata' | 'version' | 'updatedAt'> {
  readonly protected?: true | undefined
}

/** As JSON; metadata is the stored text. `content`: the text, or what there is instead. */
export function itemJson(
  { key, metadata, version, updatedAt, ...marks }: Item,
  content: Readonly<Record<string, unknown>>,
): string {
  const shown = metadata === '{}' ? '' : `,"metadata":${metadata}`
  const facts = JSON.stringify({ version, updatedAt: iso(updatedAt), protected: marks.protected })
  return `${JSON.stringify({ key, ...content }).slice(0, -1)}${shown},${facts.slice(1)}`
}

/** The size of the smallest change. */
export const LEAST_CHANGE = itemJson(
  { key: 'k', metadata: '{}', version: 1, updatedAt: 0 },
  { bytes: 1 },
).length

/** One of the best hits is read for this many bytes of the context, the size of a short memory. */
export const BYTES_PER_HIT = 400
export const MOST_HITS = 50

/** The minimum share for changes. */
const CHANGES = 1 / 8

/** A task may contain quotations, so quoted phrases are not required. */
const QUOTES = /["“”„«»]/gu

interface Searched {
  readonly about: string
  readonly around?: number | undefined
  readonly bytes: number
}

/** Waits for its turn among searches. Throws `overloaded`. */
export async function searchAbout(
  home: Home,
  client: string,
  identity: Identity,
  { about, around, bytes }: Searched,
  call?: Call,
) {
  const limit = Math.min(MOST_HITS, Math.ceil(bytes / BYTES_PER_HIT))
  const query = { q: about.replaceAll(QUOTES, ' '), prefix: '', around, limit }
  return searchInTurn(home, client, identity, query, call)
}

interface Found {
  readonly key: string
  /** As JSON with the text, and with the snippet instead. */
  readonly whole: string
  readonly brief: string
  readonly beside: Readonly<Record<'before' | 'after', readonly Neighbour[]>>
}

/** The current memories of hits and of what stands beside them, by key. */
async function currentOf({ store }: Home, identity: Identity, hits: readonly SearchHit[]) {
  const shown = hits.flatMap((hit) => [hit, ...(hit.before ?? []), ...(hit.after ?? [])])
  const keys = new Set(shown.map(({ key }) => key))
  const current = new Map<string, Memory>()
  for (const answer of await Promise.all([...keys].map((key) => store.readMemory(identity, key)))) {
    if (answer.outcome === 'missing') continue
    if (answer.outcome !== 'found') throw refusal(answer)
    current.set(answer.memory.key, answer.memory)
  }
  return current
}

/** Hits that have not changed since the search; a changed one is among the changes. */
export async function stillThere(
  home: Home,
  identity: Identity,
  hits: readonly SearchHit[],
): Promise<readonly Found[]> {
  const current = await currentOf(home, identity, hits)
  const isThere = ({ key, version }: Neighbour) => current.get(key)?.version === version
  return hits.filter(isThere).flatMap(({ key, bytes, snippet, before = [], after = [] }) => {
    const memory = current.get(key)
    if (!memory) return []
    return {
      key,
      whole: itemJson(memory, { text: memory.text }),
      brief: itemJson(memory, { bytes, ...(snippet !== undefined && { snippet }) }),
      beside: { before: before.filter(isThere), after: after.filter(isThere) },
    }
  })
}

const sum = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0)

interface Shares {
  /** Bytes that pinned memories leave for hits and changes. */
  readonly found: number
  /** Bytes that hits leave for changes. */
  readonly changes: number
}

/** Pinned memories get at least half of the room, and what hits do not need. */
export function sharesOf(found: readonly Found[], budget: ByteBudget): Shares {
  const wanted = sum(found.map(({ whole }) => bytesIn(whole)))
  const changes = Math.floor(budget.left() * CHANGES)
  const most = Math.floor(budget.left() / 2)
  return { found: wanted > 0 ? Math.min(most, wanted + changes) : 0, changes }
}

/**
 * In order of rank: in full if the snippets of all later hits still fit or half of the room
 * remains, otherwise as a snippet.
 */
export function fillFound(
  found: readonly Found[],
  budget: ByteBudget,
  keep: number,
): Map<string, string> {
  const placed = new Map<string, string>()
  let later = sum(found.map(({ brief }) => bytesIn(brief)))
  for (const { key, whole, brief } of found) {
    later -= bytesIn(brief)
    const forLater = Math.min(later, (budget.left() - keep) / 2)
    if (budget.take(whole, keep + forLater)) placed.set(key, whole)
    else if (budget.take(brief, keep)) placed.set(key, brief)
  }
  return placed
}

/**
 * Adds to hits what stands beside them, in order of rank: memories that are not shown yet, if those
 * of a hit fit. Adds their keys to `shown`.
 */
export function addBeside(
  found: readonly Found[],
  placed: Map<string, string>,
  shown: Set<string>,
  budget: ByteBudget,
  keep: number,
): void {
  const isNew = ({ key }: Neighbour) => !shown.has(key)
  for (const { key, beside } of found) {
    const item = placed.get(key)
    const [before, after] = [beside.before.filter(isNew), beside.after.filter(isNew)]
    if (item === undefined || before.length + after.length === 0) continue
    const more = `,${JSON.stringify(besideView({ before, after })).slice(1)}`
    if (!budget.take(more, keep)) continue
    placed.set(key, item.slice(0, -1) + more)
    for (const each of [...before, ...after]) shown.add(each.key)
  }
}

/** The largest share for missing words. */
const MISSING = 1 / 8

/** Words that fit into their share. */
export function fillMissing(missing: readonly string[], budget: ByteBudget): readonly string[] {
  const keep = Math.ceil(budget.left() * (1 - MISSING))
  return missing.filter((word) => budget.take(JSON.stringify(word), keep))
}
