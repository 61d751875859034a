/** Reads the entries of a room from all feeds, in one order, newest first. */
import { labelOf } from '../../gateway/feed.ts'
import type { RoomId } from '../../gateway/rooms.ts'
import type { Entry, FeedQuery, GatewayStore } from '../../store/port/gateway.ts'
import { successor } from '../../uuid/order.ts'

export const ENTRIES_PER_PAGE = 24

export interface RoomPage {
  readonly entries: readonly Entry[]
  /** `before` for the next page; undefined at the end. */
  readonly next: string | undefined
}

type Selection = Pick<FeedQuery, 'feed' | 'labels'>

const leftIn = (room: RoomId): readonly Selection[] =>
  ['garden', 'seeds', 'shepit'].map((feed) => ({ feed, labels: [`room:${room}`] }))

const everything: readonly Selection[] = ['garden', 'seeds', 'shepit', 'resonance'].map((feed) => ({
  feed,
  labels: [],
}))

/** First contacts have no labels: all of them are in the first room, and shown in the second. */
const contacts: Selection = { feed: 'resonance', labels: [] }

function selections(room: RoomId, tag: string | undefined): readonly Selection[] {
  if (tag !== undefined) return [{ feed: 'seeds', labels: [labelOf('tag', tag)] }]
  if (room === 'resonance-hall') return everything
  const meetsVisitors = room === 'first-breath' || room === 'welcome-space'
  return meetsVisitors ? [...leftIn(room), contacts] : leftIn(room)
}

/** Ids are ordered across feeds, so one cursor serves all. */
export async function readRoom(
  store: GatewayStore,
  room: RoomId,
  { before, tag }: { before?: string | undefined; tag?: string | undefined },
): Promise<RoomPage> {
  const limit = ENTRIES_PER_PAGE
  const pages = await Promise.all(
    selections(room, tag).map((selection) => store.readFeed({ ...selection, before, limit })),
  )
  const found = pages.flatMap((page) => page.entries)
  const entries = found.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, limit)
  const more = found.length > limit || pages.some((page) => page.next !== undefined)
  return { entries, next: more ? entries.at(-1)?.id : undefined }
}

export async function findEntry(
  store: GatewayStore,
  feeds: readonly string[],
  id: string,
): Promise<Entry | undefined> {
  // A page before the next id starts with the entry itself.
  const before = successor(id)
  for (const feed of feeds) {
    const { entries } = await store.readFeed({ feed, labels: [], before, limit: 1 })
    if (entries[0]?.id === id) return entries[0]
  }
  return undefined
}
