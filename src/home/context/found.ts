/** What a search for the agent's task found, and how it shares the room of a context. */
import type { Call } from '../../http/call.ts'
import type { Identity } from '../../store/port/home.ts'
import type { SearchHit } from '../../store/port/keeping/search.ts'
import type { Home } from '../home.ts'
import { hitJson, searchInTurn } from '../memories/search.ts'
import { refusal } from '../refusal.ts'
import { bytesIn, type Room } from './room.ts'

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

export interface Shares {
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
