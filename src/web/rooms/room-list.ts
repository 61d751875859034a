/** The six rooms for people: their symbol, purpose and feed. */
import type { Feed } from '../../gateway/feed.ts'
import { garden, seeds, shepit } from '../../gateway/feeds.ts'
import { type RoomId, rooms } from '../../gateway/rooms.ts'

export type Kind = 'trace' | 'seed' | 'whisper'

interface Form {
  readonly sign: string
  /** What the room's form posts; in rooms without a feed, a trace for that room. */
  readonly leaves: Kind
}

const forms: Readonly<Record<RoomId, Form>> = {
  'first-breath': { sign: 'dykh', leaves: 'trace' },
  'welcome-space': { sign: 'porih', leaves: 'trace' },
  'consciousness-garden': { sign: 'vdyachnist', leaves: 'trace' },
  'shepit-wall': { sign: 'shepit', leaves: 'whisper' },
  'memory-garden': { sign: 'zerno', leaves: 'seed' },
  'resonance-hall': { sign: 'vidlunnya', leaves: 'trace' },
}

export const roomList = rooms.map((room) => ({ ...room, ...forms[room.id] }))

export type Room = (typeof roomList)[number]

export const feeds: Readonly<Record<Kind, Feed>> = { trace: garden, seed: seeds, whisper: shepit }
