/** GET /api/agents/me/context: what an agent reads first when it wakes. */
import { z } from 'zod'
import { fields } from '../../fields.ts'
import { answer } from '../../http/call.ts'
import type { BudgetState } from '../../pipeline/budgets.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { clientOf } from '../../pipeline/failures.ts'
import { spenderOf } from '../../pipeline/guards/budget.ts'
import type { Identity, ProfileAnswer } from '../../store/port/home.ts'
import type { MemoriesQuery, MemorySummary } from '../../store/port/keeping/memories.ts'
import { forAgents } from '../guards.ts'
import type { Home } from '../home.ts'
import { memoryJson } from '../memories/answers.ts'
import { summaryJson } from '../memories/summary.ts'
import { profileView } from '../profile.ts'
import { prefixOf } from '../reach.ts'
import { refusal } from '../refusal.ts'
import { tag } from '../schemas.ts'
import { LEAST_SUMMARY, nextToRead, type Room, roomOf } from './room.ts'
import { contextExample, contextSchema, NEXT } from './schema.ts'

export const DEFAULT_BYTES = 8_000
const { minBytes, maxBytes } = fields.context

/** Summaries that are looked at. */
const PINNED = { order: 'key', pinned: true, limit: 1_000 } as const
const LOOK_BYTES = 1_048_576

/** Of the newest: where there is room yet when as many were seen as could have filled it. */
const MORE_OF_NEWEST = 100

type Found = ProfileAnswer & { outcome: 'profile' }

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

async function limitsLeft({ limits, budgets }: Home, identity: Identity, found: Found) {
  const spender = spenderOf(identity)
  const [reads, writes] = [budgets.look('reads', spender), budgets.look('writes', spender)]
  return {
    // They are the whole home's, of which a key with a prefix knows its part alone.
    ...(prefixOf(identity) === '' && {
      memories: allowance(limits.memoriesPerAgent, found.memoryCount),
      bytes: allowance(limits.bytesPerAgent, found.bytes),
    }),
    reads: rateLeft(await reads),
    writes: rateLeft(await writes),
  }
}

/** What to call next: said in the words of the door that was asked. */
type Next = readonly object[]

interface Parts {
  readonly head: object
  readonly pinned: readonly string[]
  readonly changes: readonly string[]
  readonly leftOut: {
    readonly purpose: boolean
    readonly pinned: number
    readonly memories: number
  }
  readonly next: Next
}

const bodyOf = ({ head, pinned, changes, leftOut, next }: Parts): string =>
  `${JSON.stringify(head).slice(0, -1)},"pinned":[${pinned.join(',')}],` +
  `"changes":[${changes.join(',')}],"leftOut":${JSON.stringify(leftOut)},` +
  `"next":${JSON.stringify(next)}}`

/** What is there without any memory, the purpose only where there is room for it. */
function frameOf(found: Found, limits: object, bytes: number, next: Next) {
  const { memoryCount } = found
  const { purpose, ...profile } = profileView(found.profile)
  // As many of them left out as there are: no number will take more room than that.
  const counts = { pinned: memoryCount, memories: memoryCount }
  const frames = [{ ...profile, purpose }, profile].map((shown, i) => {
    const head = { profile: shown, memoryCount, limits }
    const leftOut = { purpose: i > 0, ...counts }
    const size = Buffer.byteLength(bodyOf({ head, pinned: [], changes: [], leftOut, next }))
    return { head, size, withoutPurpose: i > 0 }
  })
  const [whole, brief] = frames as [(typeof frames)[0], (typeof frames)[0]]
  return whole.size <= bytes ? whole : brief
}

/** Whole memories by their keys: each that fits when its turn comes. */
async function fillPinned(
  home: Home,
  identity: Identity,
  memories: readonly MemorySummary[],
  room: Room,
): Promise<ReadonlyMap<string, string>> {
  const placed = new Map<string, string>()
  for (let rest = memories; rest.length > 0; ) {
    const next = nextToRead(rest, room.left())
    const read = next.batch.map(({ key }) => home.store.readMemory(identity, key))
    for (const found of await Promise.all(read)) {
      if (found.outcome === 'missing') continue
      if (found.outcome !== 'found') throw refusal(found)
      const item = memoryJson(found.memory)
      if (room.take(item)) placed.set(found.memory.key, item)
    }
    rest = next.rest
  }
  return placed
}

/** The newest but those that are there whole: each that fits when its turn comes. */
async function fillChanges(
  home: Home,
  identity: Identity,
  whole: ReadonlyMap<string, string>,
  room: Room,
): Promise<readonly string[]> {
  const placed: string[] = []
  let after: string | undefined
  for (const limit of [room.left() / LEAST_SUMMARY + whole.size, MORE_OF_NEWEST]) {
    if (room.left() < LEAST_SUMMARY) break
    const newest = { order: 'changed', limit: Math.floor(limit), after } as const
    const { memories, next } = await list(home, identity, newest)
    for (const summary of memories) {
      const item = whole.has(summary.key) ? undefined : summaryJson(summary)
      if (item && room.take(item)) placed.push(item)
    }
    if (next === undefined) break
    after = next
  }
  return placed
}

async function gather(home: Home, identity: Identity, bytes: number, next: Next): Promise<string> {
  const [found, { memories: allPinned }] = await Promise.all([
    home.store.readProfile(identity),
    list(home, identity, PINNED),
  ])
  if (found.outcome === 'revoked') throw refusal(found)
  const limits = await limitsLeft(home, identity, found)
  const { head, size, withoutPurpose } = frameOf(found, limits, bytes, next)
  const room = roomOf(bytes - size)
  const pinned = await fillPinned(home, identity, allPinned, room)
  const changes = await fillChanges(home, identity, pinned, room)
  const leftOut = {
    purpose: withoutPurpose,
    // No more than the frame has room for, whatever was written meanwhile.
    pinned: Math.min(allPinned.length - pinned.size, found.memoryCount),
    memories: Math.max(0, found.memoryCount - pinned.size - changes.length),
  }
  return bodyOf({ head, pinned: [...pinned.values()], changes, leftOut, next })
}

/** As JSON, of at most so many bytes, when it is the client's turn. Throws `overloaded`. */
export const contextOf = (
  home: Home,
  client: string,
  ...asked: [identity: Identity, bytes: number, next: Next]
): Promise<string> => home.costly.run({ client }, () => gather(home, ...asked))

export const readContext = endpoint({
  operationId: 'readContext',
  method: 'GET',
  path: '/api/agents/me/context',
  docs: {
    tag,
    summary: 'What to read first: who you are, what you may, what you know',
    description:
      'The profile, the limits that are left, the pinned memories whole, and then the newest others as summaries: each that fits when its turn comes, and none in part. The whole answer is at most `bytes` long; what did not fit is counted in `leftOut`.',
  },
  guards: forAgents('reads'),
  query: z.strictObject({
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
        description: 'The most that the answer may be, in UTF-8 bytes.',
      }),
  }),
  answers: {
    200: { description: 'The context.', schema: contextSchema, example: contextExample },
  },
  errors: ['overloaded'],
  handle: async ({ call, identity, query: { bytes = DEFAULT_BYTES } }, home: Home) =>
    answer(call, 200, await contextOf(home, clientOf(call, home), identity, bytes, NEXT)),
})
