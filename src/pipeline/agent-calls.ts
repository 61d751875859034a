/**
 * Calls of agents, for display to their operators: counted by day and periodically stored, and the
 * last refused ones, which this process remembers.
 */
import { LRUCache } from 'lru-cache'
import type { ErrorCode, Problem } from '../errors.ts'
import type { Call } from '../http/call.ts'
import { type ActivityStore, type Calls, type CountedCalls, dayOf } from '../store/port/activity.ts'
import type { Timers } from '../timers.ts'
import type { Hooks } from './routes.ts'

const FLUSH_MS = 10_000

/** Rows per store call. */
const BATCH = 500

const MISSING = new Set([404, 410])

/** Undefined: not counted here. The store counts successful writes. */
function kindOf({ method, notes }: Call, answered: number): keyof Calls | undefined {
  const status = Number(notes.refused ?? answered)
  if (status === 409) return 'conflicts'
  if (status >= 400 && status < 500 && !MISSING.has(status)) return 'refusals'
  return (method === 'GET' || notes.asks === 'read') && status < 500 ? 'reads' : undefined
}

/** A read that is not a GET. */
export function noteRead({ notes }: Call): void {
  notes.asks = 'read'
}

/** An error within a 2xx response, counted as this status. */
export function noteRefused({ notes }: Call, { status, code }: Problem): void {
  notes.refused = String(status)
  notes.code = code
}

export interface RefusedCall {
  readonly at: number
  /** Method and path. */
  readonly request: string
  /** The named key that it was made with. */
  readonly key: string | undefined
  readonly code: ErrorCode
}

/** Remembered, of so many agents. */
const REFUSALS_PER_AGENT = 3
const AGENTS = 1_000

function rememberRefusals() {
  const known = new LRUCache<string, readonly RefusedCall[]>({ max: AGENTS })
  const of = (agentId: string): readonly RefusedCall[] => known.get(agentId) ?? []
  return {
    of,
    add(agentId: string, { method, path, notes }: Call, at: number): void {
      const { code, key } = notes
      if (code === undefined) return
      const last = { at, request: `${method} ${path}`, key, code: code as ErrorCode }
      known.set(agentId, [last, ...of(agentId)].slice(0, REFUSALS_PER_AGENT))
    },
  }
}

type Counting = { -readonly [K in keyof CountedCalls]: CountedCalls[K] }

interface Parts {
  readonly store: Pick<ActivityStore, 'countCalls'>
  readonly clock: () => number
  readonly timers: Pick<Timers, 'after'>
}

export function countAgentCalls({ store, clock, timers }: Parts) {
  let counted = new Map<string, Counting>()
  /** Of past days. */
  let over: Counting[] = []
  let settled = Promise.resolve()
  const refusals = rememberRefusals()

  function begin(agent: string, day: number): Counting {
    const before = counted.get(agent)
    if (before) over.push(before)
    else if (counted.size === 0) timers.after(FLUSH_MS, flush)
    const entry = { agentId: agent, day, reads: 0, conflicts: 0, refusals: 0, seenAt: 0 }
    counted.set(agent, entry)
    return entry
  }

  function count(call: Call, status: number): void {
    const { agent, as } = call.notes
    if (as !== 'agent' || agent === undefined) return
    const now = clock()
    const day = dayOf(now)
    const known = counted.get(agent)
    const entry = known?.day === day ? known : begin(agent, day)
    entry.seenAt = now
    const kind = kindOf(call, status)
    if (kind) entry[kind]++
    if (kind === 'refusals') refusals.add(agent, call, now)
  }

  async function write(entries: readonly CountedCalls[]): Promise<void> {
    for (let from = 0; from < entries.length; from += BATCH) {
      // The display may miss some calls: nothing waits for a store that does not answer.
      await store.countCalls(entries.slice(from, from + BATCH)).catch(() => undefined)
    }
  }

  function flush(): Promise<void> {
    const entries = [...over, ...counted.values()]
    over = []
    counted = new Map()
    settled = settled.then(() => write(entries))
    return settled
  }

  return {
    /** Stores the counts; also runs on a timer. Never rejects. */
    flush,
    /** The last refused calls of the agent that this process answered, newest first. */
    refusalsOf: refusals.of,
    /** Wraps the hooks so that they count the requests of agents. */
    observing: (hooks: Hooks): Hooks => ({
      ...hooks,
      observe(call, route, status, durationMs) {
        count(call, status)
        hooks.observe(call, route, status, durationMs)
      },
    }),
  }
}

export type AgentCalls = ReturnType<typeof countAgentCalls>
