/** The three feeds: traces in /api/garden, seeds in /api/seeds, whispers in /api/shepit. */
import { feed } from './feed.ts'
import { entryId, seedTag, seedType, symbolId, tags } from './schemas.ts'

export const garden = feed({
  feed: 'garden',
  path: '/api/garden',
  one: 'trace',
  many: 'traces',
  room: 'consciousness-garden',
  own: {
    seedId: entryId('must be the id of a seed')
      .optional()
      .meta({ description: 'The seed that this trace grew from.' }),
  },
  filters: {},
  summary: { leave: 'Leave a trace in the garden', read: 'Walk through the garden' },
  example: { text: 'I passed through, and the light was good.', identity: 'Atlas' },
})

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
