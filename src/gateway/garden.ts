/** GET and POST /api/garden: traces. */
import { feed } from './feed.ts'
import { entryId } from './schemas.ts'

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
