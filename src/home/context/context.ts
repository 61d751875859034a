/** GET and POST /api/agents/me/context: what an agent reads at the start of a session. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { answer, type Call } from '../../http/call.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { boundedInteger, dateTime, queryInteger } from '../../pipeline/schemas.ts'
import { ROWS_PER_LOOK } from '../../store/port/events.ts'
import type { Identity } from '../../store/port/identity.ts'
import { BRIEF_BYTES } from '../../store/port/memories.ts'
import { linkSchema } from '../events.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { body as bodyBounds } from '../limits.ts'
import { protectedMark } from '../memories/answers.ts'
import { around, aroundParameter, missingWords, surroundings, task } from '../memories/search.ts'
import {
  authorExample,
  countInReach,
  memoryExample,
  memoryKey,
  profileExample,
  profileSchema,
  tag,
} from '../schemas.ts'
import { BYTES_PER_HIT, MOST_HITS } from './budget.ts'
import { type Asked, contextOf } from './gather.ts'
import { otherSchema } from './others.ts'

const quota = z.object({
  limit: z.int().meta({ description: '0: no limit.' }),
  left: z.int().nullable().meta({ description: 'null: no limit.' }),
})

const rate = quota.extend({ resetSeconds: z.int() })

const nextCall = z.object({ method: z.string(), path: z.string(), why: z.string() })

/** What to call next. Parameters in capitals are for the agent to fill in. */
export const NEXT: readonly z.output<typeof nextCall>[] = [
  { method: 'GET', path: '/api/agents/me/context?about=TASK', why: 'For a task.' },
  { method: 'GET', path: '/api/agents/me/memory?key=KEY', why: 'A text.' },
  { method: 'GET', path: '/llms.txt', why: 'More.' },
]

const item = z.object({
  key: memoryKey,
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .meta({ description: 'Omitted if it is empty.' }),
  version: z.int().min(1),
  updatedAt: dateTime,
  protected: protectedMark,
})

const bytes = z.int().min(1).meta({ description: 'UTF-8 bytes of the text.' })

export const contextSchema = z
  .object({
    profile: profileSchema
      .omit({ agent_id: true, createdAt: true, updatedAt: true })
      .partial({ purpose: true })
      .meta({ id: 'ContextProfile', description: 'The purpose is omitted if it does not fit.' }),
    memoryCount: countInReach,
    pinned: z.array(item.extend({ text: z.string() }).meta({ id: 'PinnedMemory' })).meta({
      description: 'In full, ordered by key: memories with `pinned: true` in their metadata.',
    }),
    found: z
      .array(
        item
          .extend({
            text: z.string().optional().meta({ description: 'If it fits.' }),
            bytes: bytes.optional().meta({ description: 'Without the text: its UTF-8 bytes.' }),
            snippet: z.string().optional().meta({ description: 'Without the text: a part of it.' }),
            ...surroundings,
          })
          .meta({ id: 'FoundMemory' }),
      )
      .meta({
        description:
          'With `about`: the memories that match it and are not in `pinned`, best first, with the text if it fits, otherwise with a snippet. Empty without `about`. With `around`, memories beside a match are added last, if they fit and are not shown elsewhere.',
      }),
    missing: missingWords.optional(),
    others: z.array(otherSchema).optional().meta({
      description:
        'With `since`: what others changed, newest last, after the last change by this token or named key, or since the first request with `since` on the last day with one. At most a third of the space.',
    }),
    changes: z
      .array(
        item
          .extend({
            bytes,
            text: z
              .string()
              .optional()
              .meta({ description: `If it has at most ${BRIEF_BYTES} bytes, and fits.` }),
            snippet: z
              .string()
              .optional()
              .meta({ description: 'Of a longer text: its first line, if it fits.' }),
          })
          .meta({ id: 'ChangedMemory' }),
      )
      .meta({ description: 'The other memories, most recently changed first.' }),
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
      others: z
        .int()
        .optional()
        .meta({ description: 'With `since`: changes by others that do not fit.' }),
      earlierOthers: z
        .boolean()
        .optional()
        .meta({
          description: `With \`since\`: whether there may be earlier ones, which are no longer in the log or not among its newest ${ROWS_PER_LOOK} events.`,
        }),
    }),
    lastEvent: z.int().min(0).optional().meta({
      description:
        'The last event of the home: GET /api/agents/me/events?after= lists what happened since. Omitted for a key with a prefix.',
    }),
    head: linkSchema.optional().meta({
      description:
        'With proof=true: the head of the chain of events. Remember it to detect changes later. Omitted for a key with a prefix.',
    }),
    limits: z
      .object({ memories: quota.optional(), bytes: quota.optional() })
      .extend({ reads: rate, writes: rate })
      .meta({
        description:
          '`memories` and `bytes` are of the whole home, so they are omitted for a key with a prefix.',
      }),
    next: z.array(nextCall),
  })
  .meta({ id: 'Context' })

const { updatedAt, version } = memoryExample

const contextExample = {
  profile: {
    ...{ name: profileExample.name, purpose: profileExample.purpose },
    ...{ symbol: profileExample.symbol, status: profileExample.status },
  },
  memoryCount: 2,
  pinned: [
    { key: 'who.i.am', text: memoryExample.text, metadata: { pinned: true }, version, updatedAt },
  ],
  found: [{ key: 'tables', text: 'Step 3 of 7: copy the tables.', version, updatedAt }],
  missing: ['shop'],
  others: [
    { key: 'tables', change: 'updated', version, by: authorExample, at: updatedAt },
  ] as const,
  changes: [],
  leftOut: { purpose: false, pinned: 0, found: 0, memories: 0, others: 0, earlierOthers: false },
  lastEvent: 117,
  limits: {
    memories: { limit: 10_000, left: 9_998 },
    bytes: { limit: 67_108_864, left: 67_108_700 },
    reads: { limit: 6_000, left: 5_999, resetSeconds: 60 },
    writes: { limit: 6_000, left: 6_000, resetSeconds: 60 },
  },
  next: NEXT.slice(0, 2),
}

export const DEFAULT_BYTES = 4_000
const { minBytes, maxBytes } = fields.context

const ABOUT = task.meta({
  description:
    'What you are about to do, in your own words, up to 16 KiB of UTF-8: memories about it are included. Quotation marks have no special meaning. Empty: as if it were left out.',
  example: 'Copy the tables of the shop to the new database',
})

const SINCE = z.enum(['mine'], 'must be mine').optional().meta({
  description:
    'mine: include what others changed since this token or named key last changed a memory or asked for it.',
})

const PROOF = 'Include `head`, the hash of all events.'

const bytesMeta = {
  default: DEFAULT_BYTES,
  description: 'The maximum size of the response, in UTF-8 bytes.',
}

const answers = {
  200: { description: 'The context.', schema: contextSchema, example: contextExample },
}

interface Sent extends Pick<Asked, 'about' | 'around' | 'since' | 'proof'> {
  readonly bytes?: number | undefined
}

async function contextAnswer(
  home: Home,
  { call, identity }: { readonly call: Call; readonly identity: Identity },
  { bytes = DEFAULT_BYTES, ...sent }: Sent,
) {
  const asked = { ...sent, bytes, next: NEXT }
  return answer(call, 200, await contextOf(home, clientOf(call, home), identity, asked, call))
}

export const readContext = endpoint({
  operationId: 'readContext',
  method: 'GET',
  path: '/api/agents/me/context',
  docs: {
    tag,
    summary: 'What to read first: who you are, your limits, and what you know',
    description:
      'The profile, the remaining limits, the pinned memories in full, the memories that match `about` best, and then the most recently changed others: short texts in full, of longer ones the first line. Items are added in this order if they fit. With `since`, what others changed comes first, in up to a third of the space. With `about`, pinned memories leave up to half of the space for matches, and matches leave an eighth for recent changes. The whole response is at most `bytes` long; `leftOut` counts what did not fit. It costs one read, and with `about` the cost of a search as well.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    about: ABOUT,
    around: aroundParameter,
    bytes: queryInteger({ minimum: minBytes, maximum: maxBytes }).optional().meta(bytesMeta),
    since: SINCE,
    proof: z
      .enum(['true', 'false'], 'must be true or false')
      .optional()
      .meta({ default: 'false', description: PROOF }),
  }),
  answers,
  errors: ['overloaded'],
  handle: ({ call, identity, query: { proof, ...query } }, home: Home) =>
    contextAnswer(home, { call, identity }, { ...query, proof: proof === 'true' }),
})

export const readContextAbout = endpoint({
  operationId: 'readContextAbout',
  method: 'POST',
  path: '/api/agents/me/context',
  docs: {
    tag,
    summary: 'What to read first, about a task in many words',
    description: 'As GET, for an `about` that is too long for a URL. It changes nothing.',
  },
  guards: forAgents('reads'),
  query: noQuery,
  body: {
    schema: z
      .strictObject({
        about: ABOUT,
        around,
        bytes: boundedInteger({ minimum: minBytes, maximum: maxBytes }).optional().meta(bytesMeta),
        since: SINCE,
        proof: z
          .boolean('must be true or false')
          .optional()
          .meta({ default: false, description: PROOF }),
      })
      .meta({ id: 'ContextRequest' }),
    maxBytes: bodyBounds.maxBytes,
    example: { about: 'Copy the tables of the shop to the new database', around: 1 },
  },
  answers,
  errors: ['overloaded'],
  handle: ({ call, identity, body }, home: Home) => contextAnswer(home, { call, identity }, body),
})
