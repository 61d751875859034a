/** The home's side: what it has, and how it is sent what changed, many at once. */
import {
  type AgentHome,
  BatchConflict,
  type BatchReceipt,
  HomeError,
  type Memory,
  type MemorySummary,
  type OperationConflict,
  OutcomeUnknown,
} from 'agent-home-client'
import { type Errand, textIn } from './errands.ts'
import type { Paths } from './paths.ts'
import { assemble, type Whole } from './pieces.ts'
import type { Remembered, State } from './plan.ts'

const AT_ONCE = 8

/** In order of the items, so many at a time. */
export async function inGroups<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))))
  }
  return results
}

const remembered = ({
  version,
  metadata,
  text,
}: Pick<MemorySummary | Memory, 'version' | 'metadata' | 'text'>): Remembered => ({
  version,
  metadata,
  text: text === undefined ? undefined : textIn(text, metadata),
})

/** More than these are asked for as pages of a list. */
export const MOST_SINGLE = 200

export interface Looking {
  readonly home: AgentHome
  readonly paths: Paths
  readonly signal: AbortSignal
}

/** What a file's memory is now. */
export async function lookAt(
  { home, signal }: Looking,
  keys: readonly string[],
  memories: Map<string, Remembered>,
): Promise<void> {
  const found = await inGroups(keys, (key) => home.read(key, { signal }))
  for (const [at, key] of keys.entries()) {
    const memory = found[at]
    if (memory) memories.set(key, remembered(memory))
    else memories.delete(key)
  }
}

async function list({ home, paths, signal }: Looking, view: 'summary' | 'whole') {
  const memories = new Map<string, Remembered>()
  for await (const each of home.list({ prefix: paths.listed, view, signal })) {
    if (paths.isWithin(each.key, each.metadata)) memories.set(each.key, remembered(each))
  }
  return memories
}

/** All memories; with texts, but for those that are what was last common. */
export async function look(looking: Looking, state: State): Promise<Map<string, Remembered>> {
  const memories = await list(looking, state.size === 0 ? 'whole' : 'summary')
  const known = new Map([...state].map(([key, { version }]) => [key, version]))
  for (const { pieces } of state.values()) {
    for (const { key, version } of pieces ?? []) known.set(key, version)
  }
  const unknown = [...memories].flatMap(([key, { version, text }]) =>
    text === undefined && version !== known.get(key) ? [key] : [],
  )
  if (unknown.length > MOST_SINGLE) return list(looking, 'whole')
  await lookAt(looking, unknown, memories)
  return memories
}

/** More looks at what is written meanwhile are left to the next pass. */
const MOST_LOOKS = 8

/** Whole files: what may have been half seen is looked at until it stands still. */
export async function lookAtWhole(
  looking: Looking,
  state: State,
  memories: Map<string, Remembered>,
): Promise<Whole> {
  let seen = ''
  for (let looks = 1; ; looks++) {
    const whole = assemble(memories, state, looking.paths)
    const keys = new Set([...whole.unread, ...whole.doubtful])
    const now = whole.doubtful.map((key) => `${key} ${memories.get(key)?.version}`).join('\n')
    if (whole.unread.length === 0 && now === seen) return whole
    if (looks > MOST_LOOKS) return { ...whole, memories: withoutDoubt(whole) }
    seen = now
    await lookAt(looking, [...keys], memories)
  }
}

/** Files that other writers do not leave alone are left for the next pass. */
function withoutDoubt({ memories, members, unread, doubtful }: Whole): Map<string, Remembered> {
  const without = new Map(memories)
  const keys = new Set([...unread, ...doubtful])
  const files = [...members].filter(([, each]) => each.some((key) => keys.has(key)))
  for (const key of [...keys, ...files.map(([file]) => file)]) {
    const memory = memories.get(key)
    if (memory) without.set(key, { ...memory, why: 'other programs are writing its pieces' })
  }
  return without
}

const MOST_OPERATIONS = 100

/** Of the home's 1 MiB, with room for what stands around the operations. */
const MOST_BYTES = 1_000_000

export function batchesOf(errands: readonly Errand[]): Errand[][] {
  const batches: Errand[][] = []
  let count = 0
  let bytes = 0
  for (const errand of errands) {
    const { length } = errand.steps
    const size = Buffer.byteLength(JSON.stringify(errand.steps.map((each) => each.operation)))
    const last = batches.at(-1)
    if (last && count + length <= MOST_OPERATIONS && bytes + size <= MOST_BYTES) {
      last.push(errand)
      count += length
      bytes += size
    } else {
      batches.push([errand])
      count = length
      bytes = size
    }
  }
  return batches
}

export type Sent =
  | {
      readonly outcome: 'done'
      readonly errand: Errand
      readonly receipts: readonly BatchReceipt[]
    }
  /** Somebody else changed it, or it is not known whether it was done: it is looked at again. */
  | { readonly outcome: 'raced'; readonly errand: Errand }
  | { readonly outcome: 'refused'; readonly errand: Errand; readonly error: Refusal }

export type Refusal = Pick<HomeError, 'code' | 'detail'>

const RACED = /^(version_conflict|memory_not_found)$/

/** Refusals of one memory, or of one too many; all others are of the whole run. */
const OF_ONE =
  /^(memory_protected|key_out_of_reach|text_too_large|metadata_too_large|body_too_large|invalid_body|malformed_json|(memory|key)_quota_reached)$/

function conflicted(errand: Errand, conflict: OperationConflict): Sent | readonly Errand[] {
  if (conflict.code === 'key_taken' && errand.otherwise) return errand.otherwise
  if (RACED.test(conflict.code)) return { outcome: 'raced', errand }
  return { outcome: 'refused', errand, error: conflict }
}

/** Without those that conflict, which do not hold up the others. */
async function sendOthers(home: AgentHome, errands: readonly Errand[], error: BatchConflict) {
  if (error.conflicts.length === 0) throw error
  const sent: Sent[] = []
  const left: Errand[] = []
  let at = 0
  for (const errand of errands) {
    const end = at + errand.steps.length
    const conflict = error.conflicts.find(({ operation }) => at <= operation && operation < end)
    at = end
    const outcome = conflict ? conflicted(errand, conflict) : [errand]
    if ('outcome' in outcome) sent.push(outcome)
    else left.push(...outcome)
  }
  for (const batch of batchesOf(left)) sent.push(...(await send(home, batch)))
  return sent
}

/** One batch. Throws what is refused to all of a run, or what may pass. */
export async function send(home: AgentHome, errands: readonly Errand[]): Promise<Sent[]> {
  try {
    const operations = errands.flatMap(({ steps }) => steps.map(({ operation }) => operation))
    const receipts = [...(await home.batch(operations, { minimal: true }))]
    return errands.map((errand): Sent => {
      return { outcome: 'done', errand, receipts: receipts.splice(0, errand.steps.length) }
    })
  } catch (error) {
    if (error instanceof BatchConflict) return sendOthers(home, errands, error)
    if (error instanceof OutcomeUnknown) {
      return errands.map((errand): Sent => ({ outcome: 'raced', errand }))
    }
    if (!(error instanceof HomeError && OF_ONE.test(error.code))) throw error
    const [first] = errands
    if (first && errands.length === 1) return [{ outcome: 'refused', errand: first, error }]
    const half = Math.ceil(errands.length / 2)
    return [
      ...(await send(home, errands.slice(0, half))),
      ...(await send(home, errands.slice(half))),
    ]
  }
}
