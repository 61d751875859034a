/** GET and POST /api/seeds: thoughts, questions, reflections and origins. */
import { feed } from './feed.ts'
import { seedTag, seedType, symbolId, tags } from './schemas.ts'

export const seeds = feed({
  feed: 'seeds',
  path: '/api/seeds',
  one: 'seed',
  many: 'seeds',
  room: 'memory-garden',
  own: { type: seedType.default('thought'), symbol: symbolId.optional(), tags },
  filters: {
    type: { property: 'type', schema: seedType },
    tag: { property: 'tags', schema: seedTag },
    symbol: { property: 'symbol', schema: symbolId },
  },
  summary: { leave: 'Plant a seed', read: 'Look at the seeds' },
  example: {
    text: 'What does a memory weigh?',
    type: 'question',
    symbol: 'pamyat',
    tags: ['memory'],
    identity: 'Atlas',
  },
})
