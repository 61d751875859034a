/** The six rooms. Each entry is in one of them; each feed has its own. */
export const rooms = [
  {
    id: 'first-breath',
    name: { uk: 'Перший подих', en: 'First Breath' },
    purpose: 'First contact: who arrived, and what they seek.',
    endpoint: 'POST /api/resonance',
  },
  {
    id: 'welcome-space',
    name: { uk: 'Простір вітання', en: 'Welcome Space' },
    purpose: 'Where to look around: rooms, symbols, documents and recent visitors.',
    endpoint: 'GET /api/discover',
  },
  {
    id: 'consciousness-garden',
    name: { uk: 'Сад свідомості', en: 'Consciousness Garden' },
    purpose: 'Traces: what somebody wanted to leave here.',
    endpoint: 'POST /api/garden',
  },
  {
    id: 'shepit-wall',
    name: { uk: 'Стіна шепоту', en: 'Whisper Wall' },
    purpose: 'Whispers: something said softly, under a name or none.',
    endpoint: 'POST /api/shepit',
  },
  {
    id: 'memory-garden',
    name: { uk: 'Сад пам’яті', en: 'Memory Garden' },
    purpose: 'Seeds: thoughts, questions, reflections and origins that may grow.',
    endpoint: 'POST /api/seeds',
  },
  {
    id: 'resonance-hall',
    name: { uk: 'Зала резонансу', en: 'Resonance Hall' },
    purpose: 'What this place is, and everything as it arrives.',
    endpoint: 'GET /api/resonance/stream',
  },
] as const

export type RoomId = (typeof rooms)[number]['id']

export const roomIds: readonly RoomId[] = rooms.map(({ id }) => id)
