/** GET /api/agents/me/context: what an agent reads at the start of a session. */
import { z } from 'zod'
import { fields } from '../fields.ts'
import { answer, type Call } from '../http/call.ts'
import type { BudgetState } from '../pipeline/budgets.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { spenderOf } from '../pipeline/guards/budget.ts'
import { dateTime } from '../pipeline/schemas.ts'
import type { ProfileAnswer } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import type { MemoriesQuery, MemorySummary } from '../store/port/memories.ts'
import type { SearchHit } from '../store/port/search.ts'
import {
  BYTES_PER_HIT,
  type ByteBudget,
  byteBudget,
  fillFound,
  itemJson,
  LEAST_CHANGE,
  MOST_HITS,
  nextToRead,
  searchAbout,
  sharesOf,
  stillThere,
} from './context-budget.ts'
import { hashExample, linkSchema } from './events.ts'
import { forAgents } from './guards.ts'
import { findHead } from './head.ts'
import type { Home } from './home.ts'
import { prefixOf } from './key-scope.ts'
import { protectedMark } from './memories/answers.ts'
import { question } from './memories/search.ts'
import { refusal } from './refusal.ts'
import {
  countInReach,
  memoryExample,
  memoryKey,
  profileExample,
  profileSchema,
  tag,
} from './schemas.ts'

const quota = z.object({
  limit: z.int().meta({ description: '0: no limit.' }),
  left: z.int().nullable().meta({ description: 'null: no limit.' }),
})

const rate = quota.extend({ resetSeconds: z.int() })

const nextCall = z.object({ method: z.string(), path: z.string(), why: z.string() })

/** What to call next. Parameters in capitals are for the agent to fill in. */
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
    method: 'GET',
    path: '/api/agents/me/events?after=LAST_EVENT',
    why: 'See what happened since, including deletions.',
  },
  {
    method: 'POST',
    path: '/api/agents/me/memory',
    why: 'Write a memory. With metadata {"pinned": true} it is always here, in full.',
  },
  {
    method: 'GET',
    path: '/api/agents/me/memory/versions?key=KEY',
    why: 'See earlier versions of a memory; POST /api/agents/me/memory/restore brings one back.',
  },
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
          })
          .meta({ id: 'FoundMemory' }),
      )
      .meta({
        description:
          'With `about`: the memories that match it and are not in `pinned`, best first, with the text if it fits, otherwise with a snippet. Empty without `about`.',
      }),
    changes: z.array(item.extend({ bytes }).meta({ id: 'ChangedMemory' })).meta({
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
    lastEvent: z.int().min(0).optional().meta({
      description:
        'The last event of the home: GET /api/agents/me/events?after= lists what happened since. Omitted for a key with a prefix.',
    }),
    head: linkSchema.optional().meta({
      description:
        'The head of the chain of events: remember it to detect changes later. Omitted for a key with a prefix.',
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
  changes: [],
  leftOut: { purpose: false, pinned: 0, found: 0, memories: 0 },
  lastEvent: 117,
  head: { id: 117, hash: hashExample },
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

/** Summaries that are read. */
const PINNED = { order: 'key', pinned: true, limit: 1_000 } as const
const LOOK_BYTES = 1_048_576

/** Of the newest memories, if there is still room after those that could have filled it. */
const MORE_OF_NEWEST = 100

type Profile = ProfileAnswer & { outcome: 'profile' }

async function list(
  { store }: Home,
  identity: Identity,
  query: Pick<MemoriesQuery, 'order' | 'pinned' | 'limit' | 'after'>,
) {
  const all = { prefix: '', whole: false, maxBytes: LOOK_BYTES, ...query }
  const found = await store.listMemories(identity, all)
  if (found.outcome !== 'memories') throw refusal(found)
  return found
}

const allowance = (limit: number, used: number) => ({
  limit,
  left: limit > 0 ? Math.max(0, limit - used) : null,
})

const rateLeft = ({ policy: { quota }, remaining, resetSeconds }: BudgetState) => ({
  limit: quota,
  left: quota > 0 ? remaining : null,
  resetSeconds,
})

async function limitsLeft({ limits, budgets }: Home, identity: Identity, found: Profile) {
  const spender = spenderOf(identity)
  const [reads, writes] = [budgets.look('reads', spender), budgets.look('writes', spender)]
  return {
    // These counts are the home's; a key with a prefix only gets those of its scope.
    ...(prefixOf(identity) === '' && {
      memories: allowance(limits.memoriesPerAgent, found.memoryCount),
      bytes: allowance(limits.bytesPerAgent, found.bytes),
    }),
    reads: rateLeft(await reads),
    writes: rateLeft(await writes),
  }
}

/** Suggested next calls, in the terms of HTTP or MCP. */
type Next = readonly object[]

interface Parts {
  readonly head: object
  /** What comes last. */
  readonly tail: object
  readonly pinned: readonly string[]
  readonly found: readonly string[]
  readonly changes: readonly string[]
  readonly leftOut: {
    readonly purpose: boolean
    readonly pinned: number
    readonly found: number
    readonly memories: number
  }
}

const bodyOf = ({ head, pinned, found, changes, leftOut, tail }: Parts): string =>
  `${JSON.stringify(head).slice(0, -1)},"pinned":[${pinned.join(',')}],` +
  `"found":[${found.join(',')}],"changes":[${changes.join(',')}],` +
  `"leftOut":${JSON.stringify(leftOut)},${JSON.stringify(tail).slice(1)}`

/** The response without any memory; the purpose is included only if it fits. */
function frameOf({ memoryCount, profile: all }: Profile, bytes: number, tail: object) {
  const { name, purpose, symbol, status } = all
  // With the largest possible number of omitted memories, so that the size cannot grow.
  const counts = { pinned: memoryCount, found: memoryCount, memories: memoryCount }
  const lists = { pinned: [], found: [], changes: [] }
  const brief = { name, symbol, status }
  const frames = [{ name, purpose, symbol, status }, brief].map((profile, i) => {
    const head = { profile, memoryCount }
    const leftOut = { purpose: i > 0, ...counts }
    const size = Buffer.byteLength(bodyOf({ head, ...lists, leftOut, tail }))
    return { head, size, withoutPurpose: i > 0 }
  })
  const [whole, without] = frames as [(typeof frames)[0], (typeof frames)[0]]
  return whole.size <= bytes ? whole : without
}

/** Whole memories by key: each that fits in its turn and leaves enough bytes. */
async function fillPinned(
  home: Home,
  identity: Identity,
  memories: readonly MemorySummary[],
  budget: ByteBudget,
  keep: number,
): Promise<ReadonlyMap<string, string>> {
  const placed = new Map<string, string>()
  for (let rest = memories; rest.length > 0; ) {
    const next = nextToRead(rest, budget.left() - keep)
    const read = next.batch.map(({ key }) => home.store.readMemory(identity, key))
    for (const found of await Promise.all(read)) {
      if (found.outcome === 'missing') continue
      if (found.outcome !== 'found') throw refusal(found)
      const { text } = found.memory
      const item = itemJson(found.memory, { text })
      if (budget.take(item, keep)) placed.set(found.memory.key, item)
    }
    rest = next.rest
  }
  return placed
}

/** The newest memories that are not included yet: each that fits in its turn. */
async function fillChanges(
  home: Home,
  identity: Identity,
  there: ReadonlySet<string>,
  budget: ByteBudget,
): Promise<readonly string[]> {
  const placed: string[] = []
  let after: string | undefined
  for (const limit of [budget.left() / LEAST_CHANGE + there.size, MORE_OF_NEWEST]) {
    if (budget.left() < LEAST_CHANGE) break
    const newest = { order: 'changed', limit: Math.floor(limit), after } as const
    const { memories, next } = await list(home, identity, newest)
    for (const summary of memories) {
      if (there.has(summary.key)) continue
      const item = itemJson(summary, { bytes: summary.bytes })
      if (budget.take(item)) placed.push(item)
    }
    if (next === undefined) break
    after = next
  }
  return placed
}

interface Asked {
  /** UTF-8 bytes of the response. */
  readonly bytes: number
  /** What the agent is about to do. */
  readonly about?: string | undefined
  readonly next: Next
}

async function gather(
  home: Home,
  identity: Identity,
  { bytes, next }: Asked,
  hits: readonly SearchHit[],
): Promise<string> {
  const seesAll = prefixOf(identity) === ''
  const [profile, { memories: allPinned, lastEvent }, foundAll, chain] = await Promise.all([
    home.store.readProfile(identity),
    list(home, identity, PINNED),
    stillThere(home, identity, hits),
    seesAll ? findHead(home, identity) : undefined,
  ])
  if (profile.outcome === 'revoked') throw refusal(profile)
  const limits = await limitsLeft(home, identity, profile)
  const tail = { ...(chain && { lastEvent, head: chain.head }), limits, next }
  const { head, size, withoutPurpose } = frameOf(profile, bytes, tail)
  const budget = byteBudget(bytes - size)
  const isPinned = new Set(allPinned.map(({ key }) => key))
  const unpinned = foundAll.filter(({ key }) => !isPinned.has(key))
  const keep = sharesOf(unpinned, budget)
  const pinned = await fillPinned(home, identity, allPinned, budget, keep.found)
  const others = foundAll.filter(({ key }) => !pinned.has(key))
  const found = fillFound(others, budget, keep.changes)
  const there = new Set([...pinned.keys(), ...found.keys()])
  const changes = await fillChanges(home, identity, there, budget)
  // Limited to the frame's room, whatever was written meanwhile.
  const leftOutOf = (all: number, shown: number) => Math.min(all - shown, profile.memoryCount)
  const leftOut = {
    purpose: withoutPurpose,
    pinned: leftOutOf(allPinned.length, pinned.size),
    found: leftOutOf(others.length, found.size),
    memories: Math.max(0, profile.memoryCount - there.size - changes.length),
  }
  const lists = { pinned: [...pinned.values()], found: [...found.values()], changes }
  return bodyOf({ head, ...lists, leftOut, tail })
}

/**
 * As JSON of at most this many bytes. It searches first and then takes a turn among costly calls,
 * so that waiting for one holds no slot of the other. Throws `overloaded`.
 */
export async function contextOf(
  home: Home,
  client: string,
  identity: Identity,
  asked: Asked,
  call?: Call,
): Promise<string> {
  const { about, bytes } = asked
  const hits =
    about === undefined ? [] : await searchAbout(home, client, identity, { about, bytes }, call)
  return home.costly.run({ client }, () => gather(home, identity, asked, hits))
}

export const readContext = endpoint({
  operationId: 'readContext',
  method: 'GET',
  path: '/api/agents/me/context',
  docs: {
    tag,
    summary: 'What to read first: who you are, your limits, and what you know',
    description:
      'The profile, the remaining limits, the pinned memories in full, the memories that match `about` best, and then the most recently changed others as summaries. Items are added in this order if they fit; texts are never truncated. With `about`, pinned memories leave up to half of the space for matches, and matches leave an eighth for recent changes. The whole response is at most `bytes` long; `leftOut` counts what did not fit. It costs one read, and with `about` the cost of a search as well.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
    about: question.optional().meta({
      description:
        'What you are about to do, in your own words: memories about it are included. Quotation marks have no special meaning.',
      example: 'Copy the tables of the shop to the new database',
    }),
    bytes: z
      .string()
      .regex(/^\d{1,6}$/, 'must be a whole number')
      .transform(Number)
      .refine(
        (bytes) => bytes >= minBytes && bytes <= maxBytes,
        `must be ${minBytes} to ${maxBytes}`,
      )
      .optional()
      .meta({
        type: 'integer',
        minimum: minBytes,
        maximum: maxBytes,
        default: DEFAULT_BYTES,
        description: 'The maximum size of the response, in UTF-8 bytes.',
      }),
  }),
  answers: {
    200: { description: 'The context.', schema: contextSchema, example: contextExample },
  },
  errors: ['overloaded'],
  async handle({ call, identity, query: { about, bytes = DEFAULT_BYTES } }, home: Home) {
    const asked = { about, bytes, next: NEXT }
    return answer(call, 200, await contextOf(home, clientOf(call, home), identity, asked, call))
  },
})
