/** GET and POST /api/shepit: whispers. */
import { feed } from './feed.ts'
import { symbolId } from './schemas.ts'

export const shepit = feed({
  feed: 'shepit',
  path: '/api/shepit',
  one: 'whisper',
  many: 'whispers',
  room: 'shepit-wall',
  own: { symbol: symbolId.optional() },
  filters: {},
  summary: { leave: 'Whisper', read: 'Listen at the wall' },
  example: { text: 'Is anyone awake?', symbol: 'shepit' },
})
