/** Gathers a context: what fits of the profile, pinned memories, matches and recent changes. */
import type { Call } from '../../http/call.ts'
import type { BudgetState } from '../../pipeline/budgets.ts'
import { spenderOf } from '../../pipeline/guards/budget.ts'
import { ROWS_PER_LOOK } from '../../store/port/events.ts'
import type { ProfileAnswer } from '../../store/port/home.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { MemoriesQuery, MemorySummary } from '../../store/port/memories.ts'
import type { SearchHit } from '../../store/port/search.ts'
import { findHead } from '../head.ts'
import type { Home } from '../home.ts'
import { prefixOf } from '../key-scope.ts'
import { refusal } from '../refusal.ts'
import {
  addBeside,
  type ByteBudget,
  byteBudget,
  bytesIn,
  fillFound,
  fillMissing,
  itemJson,
  LEAST_CHANGE,
  nextToRead,
  searchAbout,
  sharesOf,
  stillThere,
} from './budget.ts'
import { fillOthers, findOthers } from './others.ts'

/** Summaries that are read. */
const PINNED = { order: 'key', pinned: true, limit: 1_000 } as const
const LOOK_BYTES = 1_048_576

/** Of the newest memories, if there is still room after those that could have filled it. */
const MORE_OF_NEWEST = 100

type Profile = ProfileAnswer & { outcome: 'profile' }

async function list(
  { store }: Home,
  identity: Identity,
  query: Pick<MemoriesQuery, 'order' | 'pinned' | 'brief' | 'limit' | 'after'>,
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
  /** Only if the context is about a task. */
  readonly missing: readonly string[] | undefined
  /** Only if they are asked for. */
  readonly others: readonly string[] | undefined
  readonly changes: readonly string[]
  readonly leftOut: {
    readonly purpose: boolean
    readonly pinned: number
    readonly found: number
    readonly memories: number
    readonly others?: number
    readonly earlierOthers?: boolean
  }
}

const bodyOf = ({ head, pinned, found, missing, others, changes, leftOut, tail }: Parts): string =>
  `${JSON.stringify(head).slice(0, -1)},"pinned":[${pinned.join(',')}],` +
  `"found":[${found.join(',')}],${missing ? `"missing":${JSON.stringify(missing)},` : ''}` +
  `${others ? `"others":[${others.join(',')}],` : ''}"changes":[${changes.join(',')}],"leftOut":${JSON.stringify(leftOut)},` +
  JSON.stringify(tail).slice(1)

/** The response without any memory; the purpose is included only if it fits. */
function frameOf(
  { memoryCount, profile: all }: Profile,
  { bytes, about, since }: Asked,
  tail: object,
) {
  const { name, purpose, symbol, status } = all
  // With the largest possible number of omitted items, so that the size cannot grow.
  const counts = {
    ...{ pinned: memoryCount, found: memoryCount, memories: memoryCount },
    ...(since && { others: ROWS_PER_LOOK, earlierOthers: false }),
  }
  const lists = {
    ...{ pinned: [], found: [], changes: [] },
    missing: about === undefined ? about : [],
    others: since && [],
  }
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

/** The largest share of the room for changes that one with a text or a first line takes. */
const ONE_CHANGE = 1 / 4

/** The newest memories that are not included yet: each that fits in its turn, at least its key. */
async function fillChanges(
  home: Home,
  identity: Identity,
  there: ReadonlySet<string>,
  budget: ByteBudget,
): Promise<readonly string[]> {
  const placed: string[] = []
  const most = budget.left() * ONE_CHANGE
  let after: string | undefined
  for (const limit of [budget.left() / LEAST_CHANGE + there.size, MORE_OF_NEWEST]) {
    if (budget.left() < LEAST_CHANGE) break
    const newest = { order: 'changed', brief: true, limit: Math.floor(limit), after } as const
    const { memories, next } = await list(home, identity, newest)
    for (const summary of memories) {
      if (there.has(summary.key)) continue
      const { bytes, text, snippet } = summary
      const told = itemJson(summary, { bytes, text, snippet })
      const forms = [...(bytesIn(told) > most ? [] : [told]), itemJson(summary, { bytes })]
      const item = forms.find((form) => budget.take(form))
      if (item !== undefined) placed.push(item)
    }
    if (next === undefined) break
    after = next
  }
  return placed
}

export interface Asked {
  /** UTF-8 bytes of the response. */
  readonly bytes: number
  /** What the agent is about to do. */
  readonly about?: string | undefined
  /** Memories on each side of what is found. */
  readonly around?: number | undefined
  /** Include what others changed since the caller last wrote or asked. */
  readonly since?: 'mine' | undefined
  /** Include the head of the chain of events. */
  readonly proof?: boolean | undefined
  readonly next: Next
}

interface Hits {
  readonly hits: readonly SearchHit[]
  /** Undefined if nothing was asked. */
  readonly missing?: readonly string[] | undefined
}

const NO_HITS: Hits = { hits: [] }

async function gather(
  home: Home,
  identity: Identity,
  asked: Asked,
  { hits, missing }: Hits,
): Promise<string> {
  const seesAll = prefixOf(identity) === ''
  const [profile, { memories: allPinned, lastEvent }, foundAll, chain, byOthers] =
    await Promise.all([
      home.store.readProfile(identity),
      list(home, identity, PINNED),
      stillThere(home, identity, hits),
      seesAll && asked.proof ? findHead(home, identity) : undefined,
      asked.since && findOthers(home, identity),
    ])
  if (profile.outcome === 'revoked') throw refusal(profile)
  const limits = await limitsLeft(home, identity, profile)
  const tail = { ...(seesAll && { lastEvent }), head: chain?.head, limits, next: asked.next }
  const { head, size, withoutPurpose } = frameOf(profile, asked, tail)
  const budget = byteBudget(asked.bytes - size)
  const told = missing && fillMissing(missing, budget)
  const others = byOthers && fillOthers(byOthers, budget)
  const isPinned = new Set(allPinned.map(({ key }) => key))
  const unpinned = foundAll.filter(({ key }) => !isPinned.has(key))
  const keep = sharesOf(unpinned, budget)
  const pinned = await fillPinned(home, identity, allPinned, budget, keep.found)
  const unshown = foundAll.filter(({ key }) => !pinned.has(key))
  const found = fillFound(unshown, budget, keep.changes)
  const there = new Set([...pinned.keys(), ...found.keys()])
  addBeside(unshown, found, there, budget, keep.changes)
  const changes = await fillChanges(home, identity, there, budget)
  // Limited to the frame's room, whatever was written meanwhile.
  const leftOutOf = (all: number, shown: number) => Math.min(all - shown, profile.memoryCount)
  const leftOut = {
    purpose: withoutPurpose,
    pinned: leftOutOf(allPinned.length, pinned.size),
    found: leftOutOf(unshown.length, found.size),
    memories: Math.max(0, profile.memoryCount - there.size - changes.length),
    ...(byOthers &&
      others && {
        others: byOthers.entries.size - others.length,
        earlierOthers: !byOthers.isWhole,
      }),
  }
  const lists = { pinned: [...pinned.values()], found: [...found.values()], changes }
  return bodyOf({ head, ...lists, missing: told, others, leftOut, tail })
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
  const { about } = asked
  const found =
    about === undefined
      ? NO_HITS
      : await searchAbout(home, client, identity, { ...asked, about }, call)
  return home.costly.run({ client }, () => gather(home, identity, asked, found))
}
