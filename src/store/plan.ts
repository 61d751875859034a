/** Plans a batch of changes: each is decided on the result of those before it. */

import {
  type Changed,
  type Content,
  decide,
  type Found,
  type Head,
  isChangeError,
  isLiving,
  keyOf,
  type Mutation,
  type Past,
} from './change.ts'
import { NO_MARKS } from './marks.ts'
import { type Identity, reaches } from './port/identity.ts'
import {
  type AnswerBound,
  type Change,
  type ChangeError,
  type Memory,
  QUOTAS,
  type Quota,
  type Result,
} from './port/memories.ts'
import type { HomeBounds } from './port/store.ts'

/** The counters of a home. */
export interface Counters {
  /** Live memories. */
  readonly memories: number
  /** Bytes of current texts and metadata. */
  readonly bytes: number
  /** Bytes of earlier versions. */
  readonly history: number
  /** Tombstones. */
  readonly deleted: number
  /** The highest version of any forgotten tombstone. */
  readonly floor: number
  /** Bytes of vectors: those of replaced texts are counted until the end. */
  readonly vectors: number
}

/** The state before the batch. */
export interface Stored {
  readonly head: (key: string) => Head | undefined
  readonly content: (key: string) => Content
  readonly past: (key: string, version: number) => Past | null | undefined
}

export interface Plan<L extends Counters = Counters> {
  readonly effects: readonly Changed[]
  /** One per change. */
  readonly results: readonly Result[]
  readonly counters: L
}

type FailedChange = { readonly at: number; readonly fault: ChangeError }

/** The state of a memory within the batch. */
interface State {
  readonly head: Head | undefined
  /** The key that the stored memory had before the batch. */
  readonly origin: string
  /** Undefined: unchanged so far. */
  readonly content?: Content
  /** Versions that the batch has created so far. */
  readonly made: Map<number, Past | null>
}

/** No key is empty, so a renamed memory's old key has no stored state. */
const NOWHERE = ''

const untouched = (head: Head | undefined, origin: string): State => ({
  head,
  origin,
  made: new Map(),
})

/** A version from out of reach is as if it were gone. */
const within =
  (identity: Pick<Identity, 'key'>, { past }: Stored): Stored['past'] =>
  (key, version) => {
    const found = past(key, version)
    return found && !reaches(identity, found.key) ? undefined : found
  }

function overlay(stored: Stored, floor: number) {
  const states = new Map<string, State>()
  function stateOf(key: string): State {
    const state = states.get(key) ?? untouched(stored.head(key), key)
    states.set(key, state)
    return state
  }
  const contentOf = (key: string): Content => {
    const { content, origin } = stateOf(key)
    return content ?? stored.content(origin)
  }

  function keep({ memory, size, left }: Changed & { effect: 'keep' }): void {
    const { key, id, version, createdAt, updatedAt } = memory
    const before = stateOf(left?.key ?? key)
    const { marks = NO_MARKS } = before.head ?? {}
    const facts = { id, version, createdAt, updatedAt, size }
    const head = { ...facts, deleted: false, kept: true, marks }
    const made = before.made.set(version, memory)
    states.set(key, { head, origin: before.origin, content: memory, made })
    if (left && before.head) states.set(left.key, untouched(remainsOf(before.head, left), NOWHERE))
  }

  return {
    found: (change: Mutation): Found => ({
      head: stateOf(keyOf(change)).head,
      floor,
      content: () => contentOf(keyOf(change)),
      past(version) {
        const { made, origin } = stateOf(keyOf(change))
        return made.has(version) ? made.get(version) : stored.past(origin, version)
      },
      target: () => (change.verb === 'rename' ? stateOf(change.to).head : undefined),
    }),
    head: (key: string) => stateOf(key).head,
    contentOf,
    apply(effect: Changed): void {
      if (effect.effect === 'keep') {
        keep(effect)
        return
      }
      const before = stateOf(effect.key)
      if (!before.head) return
      const made = before.made.set(effect.deleted.version, null)
      const head = { ...remainsOf(before.head, effect), kept: true }
      states.set(effect.key, { head, origin: before.origin, made })
    },
  }
}

const remainsOf = (
  head: Head,
  { deleted }: { readonly deleted: { readonly version: number; readonly deletedAt: number } },
): Head => ({
  ...head,
  version: deleted.version,
  updatedAt: deleted.deletedAt,
  deleted: true,
  size: 0,
  kept: false,
  marks: NO_MARKS,
})

const keysOf = (effect: Changed): readonly string[] => {
  if (effect.effect === 'delete') return [effect.key]
  return effect.left ? [effect.memory.key, effect.left.key] : [effect.memory.key]
}

/** The counters after the effect, computed from the previous state of its keys. */
function counted<L extends Counters>(counters: L, effect: Changed, headOf: Stored['head']): L {
  let { memories, bytes, history, deleted } = counters
  for (const key of keysOf(effect)) {
    const before = headOf(key)
    if (isLiving(before)) {
      memories -= 1
      bytes -= before.size
      history += before.size
    }
    if (!before?.deleted) deleted += 1
  }
  if (effect.effect === 'keep') {
    memories += 1
    bytes += effect.size
    deleted -= 1
  }
  return { ...counters, memories, bytes, history, deleted }
}

/** Vectors count as texts do. */
const heldOf = ({ memories, bytes, vectors }: Counters): Readonly<Record<Quota, number>> => ({
  memories,
  bytes: bytes + vectors,
})

/** The quota that is exceeded. */
function quotaOver(before: Counters, after: Counters, bounds: HomeBounds): Quota | undefined {
  const [was, is] = [heldOf(before), heldOf(after)]
  const isOver = (quota: Quota): boolean =>
    bounds[quota] > 0 && is[quota] > was[quota] && is[quota] > bounds[quota]
  return QUOTAS.find(isOver)
}

export const isOver = (before: Counters, after: Counters, bounds: HomeBounds): boolean =>
  quotaOver(before, after, bounds) !== undefined

const resultOf = (effect: Changed): Result =>
  effect.effect === 'keep'
    ? { outcome: 'saved', memory: effect.memory }
    : { outcome: 'deleted', key: effect.key, deleted: effect.deleted }

/** The effects of all changes, or the error of each change that cannot be made. */
export function plan<L extends Counters>(
  identity: Pick<Identity, 'kind' | 'key'>,
  changes: readonly Change[],
  stored: Stored,
  counters: L,
  bounds: HomeBounds,
  now: number,
  bound?: AnswerBound,
): Plan<L> | { readonly faults: readonly FailedChange[] } {
  const batch = overlay({ ...stored, past: within(identity, stored) }, counters.floor)
  const effects: Changed[] = []
  const results: Result[] = []
  const faults: FailedChange[] = []
  let after = counters

  function read(key: string): Result {
    const head = batch.head(key)
    if (isLiving(head)) {
      const { id, version, createdAt, updatedAt } = head
      const memory = { id, key, ...batch.contentOf(key), version, createdAt, updatedAt }
      return { outcome: 'found', memory }
    }
    const deleted = head && { version: head.version, deletedAt: head.updatedAt }
    return { outcome: 'missing', deleted }
  }

  const isProtected = (key: string): boolean => batch.head(key)?.marks.protected ?? false

  function change(each: Mutation): Result | ChangeError {
    const decision = decide(each, batch.found(each), now)
    if (isChangeError(decision)) return decision
    const isForbidden = identity.kind !== 'operator' && keysOf(decision).some(isProtected)
    if (isForbidden) return { outcome: 'protected' }
    const next = counted(after, decision, batch.head)
    const quota = quotaOver(after, next, bounds)
    if (quota) return { outcome: 'over_quota', quota }
    after = next
    batch.apply(decision)
    effects.push(decision)
    return resultOf(decision)
  }

  for (const [at, each] of changes.entries()) {
    const became = each.verb === 'read' ? read(each.key) : change(each)
    if (isResult(became, each)) results.push(became)
    else faults.push({ at, fault: became })
  }
  if (faults.length > 0) return { faults }
  const tooMuch = bound && withoutRoom(results, bound)
  return tooMuch ? { faults: [tooMuch] } : { effects, results, counters: after }
}

const jsonBytes = ({ text, metadata }: Memory): number =>
  Buffer.byteLength(JSON.stringify(text)) + Buffer.byteLength(metadata)

const isShown = (result: Result, { minimal }: AnswerBound): result is Result & { memory: Memory } =>
  result.outcome === 'found' || (result.outcome === 'saved' && !minimal)

/** The first result that exceeds the response size; later results are not looked at. */
function withoutRoom(results: readonly Result[], bound: AnswerBound): FailedChange | undefined {
  let bytes = 0
  const at = results.findIndex((result) => {
    if (isShown(result, bound)) bytes += jsonBytes(result.memory)
    return bytes > bound.maxBytes
  })
  return at < 0 ? undefined : { at, fault: { outcome: 'answer_too_large' } }
}

/** Reading a missing memory is a result; deleting one is an error. */
const isResult = (became: Result | ChangeError, { verb }: Change): became is Result =>
  verb === 'read' ||
  became.outcome === 'saved' ||
  became.outcome === 'deleted' ||
  became.outcome === 'found'
