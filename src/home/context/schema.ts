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
  limit: z.int().meta({ description: '0: no limit.' }),
  left: z.int().nullable().meta({ description: 'null: no limit.' }),
})

const rate = allowance.extend({ resetSeconds: z.int() })

const nextCall = z.object({ method: z.string(), path: z.string(), why: z.string() })

/** What to call next. Parameters in capitals are the agent's to fill in. */
export const NEXT: readonly z.output<typeof nextCall>[] = [
  {
    method: 'GET',
    path: '/api/agents/me/context?about=TASK',
    why: 'Before a task: include what you know about it.',
  },
  {
    method: 'GET',
    path: '/api/agents/me/memories/search?q=QUESTION',
    why: 'Find what you know about something.',
  },
  { method: 'GET', path: '/api/agents/me/memory?key=KEY', why: 'Read a memory in full.' },
  {
    method: 'GET',
    path: '/api/agents/me/memories?order=changed',
    why: 'List every memory, including those left out here.',
  },
  {
    method: 'POST',
    path: '/api/agents/me/memory',
    why: 'Write a memory. With metadata {"pinned": true} it is included in full in this response.',
  },
]

export const contextSchema = z
  .object({
    profile: profileSchema
      .partial({ purpose: true })
      .meta({ id: 'ContextProfile', description: 'The purpose is omitted if it does not fit.' }),
    memoryCount: countInReach,
    limits: z
      .object({ memories: allowance.optional(), bytes: allowance.optional() })
      .extend({ reads: rate, writes: rate })
      .meta({
        description:
          '`memories` and `bytes` are of the whole home, so they are omitted for a key with a prefix.',
      }),
    pinned: z.array(memorySchema).meta({
      description: 'In full, ordered by key: memories with `pinned: true` in their metadata.',
    }),
    found: z.array(hitSchema).meta({
      description:
        'With `about`: the memories that match it and are not in `pinned`, best first, with the text if it fits, otherwise with a snippet. Empty without `about`.',
    }),
    changes: z.array(summarySchema).meta({
      description: 'The other memories, most recently changed first, without their texts.',
    }),
    leftOut: z.object({
      purpose: z.boolean().meta({ description: 'GET /api/agents/me returns it.' }),
      pinned: z.int().meta({
        description:
          'Pinned memories that are not in `pinned`, among the first 1,000 by key and the first 1 MiB of metadata.',
      }),
      found: z.int().meta({
        description: `Matches that are not shown, among the best: one for each ${BYTES_PER_HIT} of \`bytes\`, at most ${MOST_HITS}.`,
      }),
      memories: z.int().meta({ description: 'Memories that are not shown at all.' }),
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
