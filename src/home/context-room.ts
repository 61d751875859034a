/** How a context shares its bytes: an item is included in full or left out. */

import type { Call } from '../http/call.ts'
import type { Identity } from '../store/port/home.ts'
import type { MemorySummary } from '../store/port/keeping/memories.ts'
import type { SearchHit } from '../store/port/keeping/search.ts'
import type { Home } from './home.ts'
import { summaryJson } from './memories/answers.ts'
import { hitJson, searchInTurn } from './memories/search.ts'
import { refusal } from './refusal.ts'

export interface Room {
  /** UTF-8 bytes. */
  readonly left: () => number
  /** Reserves the bytes of an item if `keep` bytes remain. False: nothing is reserved. */
  readonly take: (item: string, keep?: number) => boolean
}

const SEPARATOR_BYTES = 1

/** Of a list, which an item takes. */
export const bytesIn = (item: string): number => Buffer.byteLength(item) + SEPARATOR_BYTES

export function roomOf(bytes: number): Room {
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

/** The least that a memory needs as JSON: escapes only add to it. */
const leastOf = ({ bytes, metadata, key }: MemorySummary): number =>
  bytes + Buffer.byteLength(metadata) + key.length

/**
 * Those next in order that are to be read, as they may all fit, and the rest. What cannot fit any
 * more is in neither.
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

/** What the smallest summary takes: one with the shortest key, and with nothing in its metadata. */
export const LEAST_SUMMARY = summaryJson({
  ...{ id: '00000000-0000-0000-0000-000000000000', key: 'k', bytes: 1, metadata: '{}' },
  ...{ version: 1, createdAt: 0, updatedAt: 0 },
}).length

/** Of the best hits one is looked at for so many bytes of the context: a short memory takes them. */
export const BYTES_PER_HIT = 400
export const MOST_HITS = 50

/** Of the room at least so much is left for the changes. */
const CHANGES = 1 / 8

/** Whoever tells a task may quote what was said to it: nothing has to stand as it is there. */
const QUOTES = /["“”„«»]/gu

/** Waits for its turn among the searches. Throws `overloaded`. */
export async function searchAbout(
  home: Home,
  client: string,
  identity: Identity,
  { about, bytes }: { readonly about: string; readonly bytes: number },
  call?: Call,
): Promise<readonly SearchHit[]> {
  const limit = Math.min(MOST_HITS, Math.ceil(bytes / BYTES_PER_HIT))
  const query = { q: about.replaceAll(QUOTES, ' '), prefix: '', limit }
  const { hits } = await searchInTurn(home, client, identity, query, call)
  return hits
}

export interface Found {
  readonly key: string
  /** As JSON with the text, and with the snippet in its place. */
  readonly whole: string
  readonly brief: string
}

/** What is still as it was found: after that it may have waited. The rest is the newest change. */
export async function stillThere(
  { store }: Home,
  identity: Identity,
  hits: readonly SearchHit[],
): Promise<readonly Found[]> {
  const answers = await Promise.all(hits.map(({ key }) => store.readMemory(identity, key)))
  return answers.flatMap((answer, at) => {
    const hit = hits[at]
    if (!hit || answer.outcome === 'missing') return []
    if (answer.outcome !== 'found') throw refusal(answer)
    const { key, version, text } = answer.memory
    if (version !== hit.version) return []
    const { text: _, ...brief } = hit
    const { snippet: __, ...rest } = hit
    return { key, whole: hitJson({ ...rest, text }), brief: hitJson(brief) }
  })
}

const sum = (sizes: readonly number[]): number => sizes.reduce((a, b) => a + b, 0)

interface Shares {
  /** Bytes that pinned memories leave to what was found, and to changes. */
  readonly found: number
  /** Bytes that what was found leaves to changes. */
  readonly changes: number
}

/** Pinned memories have at least half of the room, and all that is not wanted for what was found. */
export function sharesOf(found: readonly Found[], room: Room): Shares {
  const wanted = sum(found.map(({ whole }) => bytesIn(whole)))
  const changes = Math.floor(room.left() * CHANGES)
  const most = Math.floor(room.left() / 2)
  return { found: wanted > 0 ? Math.min(most, wanted + changes) : 0, changes }
}

/**
 * In order of rank, each whole if that leaves room for the snippets of all that come after it, or
 * half of the room at least; else its snippet.
 */
export function fillFound(
  found: readonly Found[],
  room: Room,
  keep: number,
): ReadonlyMap<string, string> {
  const placed = new Map<string, string>()
  let later = sum(found.map(({ brief }) => bytesIn(brief)))
  for (const { key, whole, brief } of found) {
    later -= bytesIn(brief)
    const forLater = Math.min(later, (room.left() - keep) / 2)
    if (room.take(whole, keep + forLater)) placed.set(key, whole)
    else if (room.take(brief, keep)) placed.set(key, brief)
  }
  return placed
}
