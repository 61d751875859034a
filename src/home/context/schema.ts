/** What a context looks like. */
import { z } from 'zod'
import { hitSchema } from '../memories/search.ts'
import { summaryExample, summarySchema } from '../memories/summary.ts'
import {
  countInReach,
  memoryExample,
  memorySchema,
  profileExample,
  profileSchema,
} from '../schemas.ts'
import { BYTES_PER_HIT, MOST_HITS } from './found.ts'

const allowance = z.object({
  limit: z.int().meta({ description: '0: without limit.' }),
  left: z.int().nullable().meta({ description: 'null: without limit.' }),
})

const rate = allowance.extend({ resetSeconds: z.int() })

const nextCall = z.object({ method: z.string(), path: z.string(), why: z.string() })

/** What to call next. Parameters in capitals are the agent's to fill in. */
export const NEXT: readonly z.output<typeof nextCall>[] = [
  {
    method: 'GET',
    path: '/api/agents/me/context?about=TASK',
    why: 'Before a task: what you know of it comes along.',
  },
  {
    method: 'GET',
    path: '/api/agents/me/memories/search?q=QUESTION',
    why: 'Find what you know about something.',
  },
  { method: 'GET', path: '/api/agents/me/memory?key=KEY', why: 'Read a memory whole.' },
  {
    method: 'GET',
    path: '/api/agents/me/memories?order=changed',
    why: 'List every memory, also what was left out here.',
  },
  {
    method: 'POST',
    path: '/api/agents/me/memory',
    why: 'Write. With metadata {"pinned": true} it comes whole in this answer.',
  },
]

export const contextSchema = z
  .object({
    profile: profileSchema
      .partial({ purpose: true })
      .meta({ id: 'ContextProfile', description: 'Without the purpose where it does not fit.' }),
    memoryCount: countInReach,
    limits: z
      .object({ memories: allowance.optional(), bytes: allowance.optional() })
      .extend({ reads: rate, writes: rate })
      .meta({
        description:
          'A key with a prefix is not shown `memories` and `bytes`, which are the whole home’s.',
      }),
    pinned: z
      .array(memorySchema)
      .meta({ description: 'Whole, ordered by key: those with `pinned: true` in their metadata.' }),
    found: z.array(hitSchema).meta({
      description:
        'With `about`: what answers it and is not among the pinned, best first; the text where it fits whole, else a snippet. Empty without it.',
    }),
    changes: z
      .array(summarySchema)
      .meta({ description: 'The others, last changed first, without their texts.' }),
    leftOut: z.object({
      purpose: z.boolean().meta({ description: 'GET /api/agents/me has it.' }),
      pinned: z.int().meta({
        description:
          'Memories that are pinned and not among `pinned`; of the first 1,000 by key, and 1 MiB of metadata.',
      }),
      found: z.int().meta({
        description: `Of the best hits, one for each ${BYTES_PER_HIT} of \`bytes\` and at most ${MOST_HITS}.`,
      }),
      memories: z.int().meta({ description: 'Memories of which nothing is here.' }),
    }),
    next: z.array(nextCall),
  })
  .meta({ id: 'Context' })

export const contextExample = {
  profile: profileExample,
  memoryCount: 2,
  limits: {
    memories: { limit: 10_000, left: 9_998 },
    bytes: { limit: 67_108_864, left: 67_108_700 },
    reads: { limit: 6_000, left: 5_999, resetSeconds: 60 },
    writes: { limit: 6_000, left: 6_000, resetSeconds: 60 },
  },
  pinned: [{ ...memoryExample, key: 'who.i.am', metadata: { pinned: true } }],
  found: [{ ...summaryExample, matched: ['tables'], text: 'Step 3 of 7: copy the tables.' }],
  changes: [],
  leftOut: { purpose: false, pinned: 0, found: 0, memories: 0 },
  next: NEXT,
}
