/** The six rooms for people: their symbol, purpose and feed. */

import type { Feed } from '../../gateway/feed.ts'
import { garden, seeds, shepit } from '../../gateway/feeds.ts'
import { type RoomId, rooms } from '../../gateway/rooms.ts'

export type Kind = 'trace' | 'seed' | 'whisper'

const signs: Readonly<Record<RoomId, string>> = {
  'first-breath': 'dykh',
  'welcome-space': 'porih',
  'consciousness-garden': 'vdyachnist',
  'shepit-wall': 'shepit',
  'memory-garden': 'zerno',
  'resonance-hall': 'vidlunnya',
}

/** What the room's form posts; in rooms without a feed, a trace for that room. */
const kinds: Readonly<Partial<Record<RoomId, Kind>>> = {
  'shepit-wall': 'whisper',
  'memory-garden': 'seed',
}

export interface Room {
  readonly id: RoomId
  readonly name: { readonly uk: string; readonly en: string }
  readonly purpose: string
  readonly sign: string
  readonly leaves: Kind
}

export const roomList: readonly Room[] = rooms.map(({ id, name, purpose }) => ({
  id,
  name,
  purpose,
  sign: signs[id],
  leaves: kinds[id] ?? 'trace',
}))

export const feeds: Readonly<Record<Kind, Feed>> = { trace: garden, seed: seeds, whisper: shepit }
