/** The home's side: what it has, and what is sent to it, many at once. */
import {
  type AgentHome,
  BatchConflict,
  type BatchReceipt,
  HomeError,
  type Memory,
  type MemorySummary,
  type Metadata,
  type Operation,
  type OperationConflict,
  OutcomeUnknown,
} from 'agent-home-client'
import type { Paths } from './paths.ts'
import type { Action, Memories, Remembered, State } from './plan.ts'
import type { Change } from './state.ts'

/** The home keeps no empty text. The mark is that of the memory tool's adapter. */
const EMPTY = '\n'

const textIn = (text: string, { empty }: Metadata): string =>
  empty === true && text === EMPTY ? '' : text

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
  const unknown = [...memories].flatMap(([key, { version, text }]) =>
    text === undefined && version !== state.get(key)?.version ? [key] : [],
  )
  if (unknown.length > MOST_SINGLE) return list(looking, 'whole')
  await lookAt(looking, unknown, memories)
  return memories
}

type Send = Extract<Action, { does: 'send' }>
type Delete = Extract<Action, { does: 'delete' }>

/** One change of the home. */
export interface Errand {
  readonly actions: readonly (Send | Delete)[]
  readonly operation: Operation
  /** What is common then. */
  readonly changes: (receipt: BatchReceipt) => readonly Change[]
  /** What the home has then. */
  readonly apply: (receipt: BatchReceipt, memories: Map<string, Remembered>) => void
  /** Where a rename cannot be. */
  readonly otherwise?: readonly Errand[]
}

const versionIn = (receipt: BatchReceipt): number =>
  'memory' in receipt ? (receipt.memory?.version ?? 0) : receipt.deleted.version

/** Metadata stays as it is, but for the mark of an empty text. */
function writing(
  { key, path, text, expectedVersion }: Send,
  memories: Memories,
  paths: Paths,
): Extract<Operation, { write: unknown }> | Extract<Operation, { patch: unknown }> {
  const isEmpty = text === ''
  const stored = isEmpty ? EMPTY : text
  const { empty, ...others } = memories.get(key)?.metadata ?? {}
  const marked = { ...others, ...(isEmpty && { empty: true }) }
  if (expectedVersion > 0) {
    const isMarked = (empty === true) === isEmpty
    const metadata = isMarked ? {} : { metadata: marked }
    return { patch: { key, text: stored, expectedVersion, ...metadata } }
  }
  const said = paths.said(path)
  const metadata = { ...(said !== undefined && { path: said }), ...(isEmpty && { empty: true }) }
  return { write: { key, text: stored, metadata, expectedVersion } }
}

function sending(action: Send, memories: Memories, paths: Paths): Errand {
  const { key, path, text, expectedVersion, mergedFrom } = action
  const operation = writing(action, memories, paths)
  const { metadata = memories.get(key)?.metadata ?? {} } =
    'write' in operation ? operation.write : operation.patch
  return {
    actions: [action],
    operation,
    apply: (receipt, now) => void now.set(key, { version: versionIn(receipt), metadata, text }),
    // The file becomes the merge in the next round, from what it was merged of.
    changes: (receipt) => [
      mergedFrom === undefined
        ? { key, path, text, version: versionIn(receipt) }
        : { key, path, text: mergedFrom, version: expectedVersion },
    ],
  }
}

const deleting = (action: Delete): Errand => {
  const { key, expectedVersion } = action
  return {
    actions: [action],
    operation: { delete: { key, expectedVersion } },
    changes: () => [{ key, gone: true }],
    apply: (_, now) => void now.delete(key),
  }
}

/** A file that has another name now: the memory's id and history go along. */
function renaming(from: Delete, to: Send, otherwise: readonly Errand[]): Errand {
  const { key, path, text } = to
  return {
    actions: [to, from],
    operation: { rename: { from: from.key, to: key, expectedVersion: from.expectedVersion } },
    changes: (receipt) => [
      { key: from.key, gone: true },
      { key, path, text, version: versionIn(receipt) },
    ],
    apply(receipt, now) {
      const { metadata = {} } = now.get(from.key) ?? {}
      now.delete(from.key)
      now.set(key, { version: versionIn(receipt), metadata, text })
    },
    otherwise,
  }
}

/** Of texts that are there once, who went and who came. */
function movesIn(sends: readonly Send[], deletes: readonly Delete[], state: State, paths: Paths) {
  const isPlain = ({ path }: Action) => paths.said(path) === undefined
  const gone = Map.groupBy(deletes.filter(isPlain), ({ key }) => state.get(key)?.text ?? '')
  const come = Map.groupBy(
    sends.filter((each) => isPlain(each) && each.expectedVersion === 0 && !each.isRevival),
    ({ text }) => text,
  )
  const moves = new Map<Send, Delete>()
  for (const [text, [to, ...others]] of come) {
    const [from, ...more] = gone.get(text) ?? []
    if (to && from && text !== '' && others.length + more.length === 0) moves.set(to, from)
  }
  return moves
}

export function errandsOf(
  actions: readonly Action[],
  { memories, state, paths }: { memories: Memories; state: State; paths: Paths },
): Errand[] {
  const sends = actions.filter((each): each is Send => each.does === 'send')
  const deletes = actions.filter((each): each is Delete => each.does === 'delete')
  const moves = movesIn(sends, deletes, state, paths)
  const moved = new Set(moves.values())
  const sent = sends.map((each): Errand => {
    const plain = sending(each, memories, paths)
    const from = moves.get(each)
    return from ? renaming(from, each, [plain, deleting(from)]) : plain
  })
  return [...sent, ...deletes.filter((each) => !moved.has(each)).map(deleting)]
}

const MOST_OPERATIONS = 100

/** Of the home's 1 MiB, with room for what stands around the operations. */
const MOST_BYTES = 1_000_000

export function batchesOf(errands: readonly Errand[]): Errand[][] {
  const batches: Errand[][] = []
  let bytes = 0
  for (const errand of errands) {
    const size = Buffer.byteLength(JSON.stringify(errand.operation))
    const last = batches.at(-1)
    if (last && last.length < MOST_OPERATIONS && bytes + size <= MOST_BYTES) {
      last.push(errand)
      bytes += size
    } else {
      batches.push([errand])
      bytes = size
    }
  }
  return batches
}

export type Sent =
  | { readonly outcome: 'done'; readonly errand: Errand; readonly receipt: BatchReceipt }
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
  const conflicts = new Map(error.conflicts.map((each) => [each.operation, each]))
  const sent: Sent[] = []
  const left: Errand[] = []
  for (const [at, errand] of errands.entries()) {
    const conflict = conflicts.get(at)
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
    const operations = errands.map(({ operation }) => operation)
    const receipts = await home.batch(operations, { minimal: true })
    return errands.map((errand, at): Sent => {
      return { outcome: 'done', errand, receipt: receipts[at] ?? { memory: null } }
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
