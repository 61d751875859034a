/** What is to be done in the home, as operations of which an errand makes all or none. */
import type { BatchReceipt, Metadata, Operation } from 'agent-home-client'
import { cut } from './cut.ts'
import { baseOf, isApart, isMarked, keysUnder, manifestOf, markOf } from './manifest.ts'
import { MOST_CHARACTERS, type Paths } from './paths.ts'
import type { Whole } from './pieces.ts'
import type { Action, Common, Disk, Memories, Remembered, State } from './plan.ts'
import type { Change, Kept } from './state.ts'

/** The home keeps no empty text. The mark is that of the memory tool's adapter. */
const EMPTY = '\n'

export const textIn = (text: string, { empty }: Metadata): string =>
  empty === true && text === EMPTY ? '' : text

type Send = Extract<Action, { does: 'send' }>
type Delete = Extract<Action, { does: 'delete' }>

export interface Step {
  readonly operation: Operation
  /** What the home has then. */
  readonly apply: (receipt: BatchReceipt, memories: Map<string, Remembered>) => void
}

export interface Errand {
  readonly actions: readonly (Send | Delete)[]
  readonly steps: readonly Step[]
  /** What is common then. */
  readonly changes: (memories: Memories) => readonly Change[]
  /** Where a rename cannot be. */
  readonly otherwise?: readonly Errand[]
  /** It makes way for the actions, and does none of them. */
  readonly isAhead?: boolean
}

/** What errands are of. `raw`: of pieces each. */
export interface Sources {
  readonly raw: ReadonlyMap<string, Remembered>
  readonly whole: Whole
  readonly state: State
  readonly disk: Disk
  readonly paths: Paths
}

const versionIn = (receipt: BatchReceipt): number =>
  'memory' in receipt ? (receipt.memory?.version ?? 0) : receipt.deleted.version

type Saving = Extract<Operation, { write: unknown }> | Extract<Operation, { patch: unknown }>

const saving = (operation: Saving, before: Remembered | undefined): Step => {
  const { key, ...sent } = 'write' in operation ? operation.write : operation.patch
  const { metadata = before?.metadata ?? {}, text = before?.text } = sent
  return {
    operation,
    apply: (receipt, memories) => {
      const shown = text === undefined ? undefined : textIn(text, metadata)
      memories.set(key, { version: versionIn(receipt), metadata, text: shown })
    },
  }
}

const removing = (key: string, expectedVersion: number): Step => ({
  operation: { delete: { key, expectedVersion } },
  apply: (_, memories) => void memories.delete(key),
})

const moving = (from: string, to: string, expectedVersion: number): Step => ({
  operation: { rename: { from, to, expectedVersion } },
  apply(receipt, memories) {
    const { metadata = {}, text } = memories.get(from) ?? {}
    memories.delete(from)
    memories.set(to, { version: versionIn(receipt), metadata, text })
  },
})

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Metadata stay as they are, but for the marks of an empty text and of pieces. */
function firstStep(
  { key, path, expectedVersion }: Pick<Send, 'key' | 'path' | 'expectedVersion'>,
  text: string,
  manifest: Metadata | undefined,
  { raw, whole, paths }: Sources,
): Step {
  const marks = { ...(text === '' && { empty: true }), ...manifest }
  const stored = text === '' ? EMPTY : text
  if (expectedVersion === 0) {
    const said = paths.said(path)
    const metadata = { ...(said !== undefined && { path: said }), ...marks }
    return saving({ write: { key, text: stored, metadata, expectedVersion } }, undefined)
  }
  const before = {
    version: expectedVersion,
    metadata: {},
    ...raw.get(key),
    text: whole.textOf(key),
  }
  const { empty, syncPieces, ...others } = before.metadata
  const isMeant = (empty === true) === (text === '') && isSame(syncPieces, manifest?.syncPieces)
  const metadata = isMeant ? {} : { metadata: { ...others, ...marks } }
  const isSameText = manifest !== undefined && before.text === text
  const change = { ...(!isSameText && { text: stored }), ...metadata }
  return saving({ patch: { key, expectedVersion, ...change } }, before)
}

/** Undefined: it is as it should be. */
function pieceStep(key: string, text: string, own: Metadata, sources: Sources): Step | undefined {
  const before = sources.raw.get(key)
  const metadata = { ...before?.metadata, ...markOf(key), ...own }
  if (!before) return saving({ write: { key, text, metadata, expectedVersion: 0 } }, undefined)
  const change = {
    ...(sources.whole.textOf(key) !== text && { text }),
    ...(!isMarked(key, before.metadata) && { metadata }),
  }
  const { version: expectedVersion } = before
  const known = { ...before, text: sources.whole.textOf(key) }
  return Object.keys(change).length > 0
    ? saving({ patch: { key, expectedVersion, ...change } }, known)
    : undefined
}

/** The keys of a file's pieces but the first that the home has, also of one that is gone. */
const othersOf = (key: string, { members, orphans }: Whole): readonly string[] =>
  members.get(key)?.slice(1) ?? orphans.get(key) ?? []

/** Under a base where no file is, and no other memory. */
function baseFor(key: string, path: string, count: number, sources: Sources): string {
  const { raw, whole, disk, paths } = sources
  const own = new Set(othersOf(key, whole))
  const isFree = (each: string) => {
    const named = paths.pathOf(each, {})
    const isFile = named !== undefined && disk.files.has(named)
    return each.length <= MOST_CHARACTERS && !isFile && (own.has(each) || !raw.has(each))
  }
  const bases = [...[...own].map(baseOf).filter(isApart).slice(0, 1), key]
  const isWhole = (base: string) => keysUnder(base, count).every(isFree)
  return bases.find(isWhole) ?? paths.apart(path).base
}

/** What writes a text: of pieces only those that are others now. */
function stepsFor(
  file: Pick<Send, 'key' | 'path' | 'text' | 'expectedVersion'>,
  sources: Sources,
): { steps: Step[]; keys: readonly string[]; texts: readonly string[] } {
  const { key, path, text } = file
  const { raw, whole, paths } = sources
  const others = othersOf(key, whole)
  const before = [key, ...others].map((each) => whole.textOf(each))
  const isKnown = raw.has(key) && !before.includes(undefined)
  const texts = cut(text, isKnown ? before.map((each) => each ?? '') : [])
  const count = texts.length
  const base = baseFor(key, path, count, sources)
  const own = isApart(base) ? { path: paths.apart(path).path } : {}
  const manifest = count > 1 ? { syncPieces: manifestOf(text, count, base) } : undefined
  const keys = [key, ...keysUnder(base, count)]
  const steps = [
    firstStep(file, texts[0] ?? '', manifest, sources),
    ...keys.flatMap((each, at) =>
      at === 0 ? [] : (pieceStep(each, texts[at] ?? '', own, sources) ?? []),
    ),
    ...others
      .filter((each) => !keys.includes(each))
      .map((each) => removing(each, raw.get(each)?.version ?? 0)),
  ]
  return { steps, keys, texts }
}

function keptOf(
  { key, path, text }: Pick<Kept, 'key' | 'path' | 'text'>,
  keys: readonly string[],
  texts: readonly string[],
  memories: Memories,
): Kept {
  const versionOf = (each: string) => memories.get(each)?.version ?? 0
  const pieces = keys.map((each, at) => {
    return { key: each, version: versionOf(each), length: texts[at]?.length ?? 0 }
  })
  return { key, path, text, version: versionOf(key), ...(keys.length > 1 && { pieces }) }
}

function sending(action: Send, sources: Sources): Errand {
  const { key, path, text, expectedVersion, mergedFrom } = action
  const { steps, keys, texts } = stepsFor(action, sources)
  return {
    actions: [action],
    steps,
    // The file becomes the merge in the next round, from what it was merged of.
    changes: (memories) => [
      mergedFrom === undefined
        ? keptOf({ key, path, text }, keys, texts, memories)
        : { key, path, text: mergedFrom, version: expectedVersion },
    ],
  }
}

const deleting = (action: Delete, { raw, whole }: Sources): Errand => {
  const { key, expectedVersion } = action
  const others = othersOf(key, whole).map((each) => removing(each, raw.get(each)?.version ?? 0))
  return {
    actions: [action],
    steps: [removing(key, expectedVersion), ...others],
    changes: () => [{ key, gone: true }],
  }
}

/** A file that has another name now: ids and history go along, those of all pieces too. */
function renaming(from: Delete, to: Send, sources: Sources): Errand[] {
  const { raw, whole } = sources
  const plain = [sending(to, sources), deleting(from, sources)]
  const old = [from.key, ...othersOf(from.key, whole)]
  const keys = [to.key, ...keysUnder(to.key, old.length)]
  const isMovable =
    old.length === 1 ||
    (isSame(old.slice(1), keysUnder(from.key, old.length)) &&
      baseFor(to.key, to.path, old.length, sources) === to.key)
  if (!isMovable) return plain
  const texts = old.length === 1 ? [to.text] : old.map((key) => whole.textOf(key) ?? '')
  const manifest = { syncPieces: manifestOf(to.text, old.length, to.key) }
  const ahead = old.length === 1 ? [] : [firstStep(from, texts[0] ?? '', manifest, sources)]
  const moves = old.map((key, at) => {
    const version = raw.get(key)?.version ?? 0
    return moving(key, keys[at] ?? '', at === 0 ? version + ahead.length : version)
  })
  return [
    {
      actions: [to, from],
      steps: [...ahead, ...moves],
      changes: (memories) => [{ key: from.key, gone: true }, keptOf(to, keys, texts, memories)],
      otherwise: plain,
    },
  ]
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

/** Writes a file's metadata and pieces as they should be; its text stays. */
function mending(key: string, actions: readonly Send[], sources: Sources): Errand[] {
  const { whole, state, paths } = sources
  const memory = whole.memories.get(key)
  const common = state.get(key)
  const path = paths.pathOf(key, memory?.metadata ?? {})
  const text = memory?.text ?? common?.text
  if (!memory || memory.why !== undefined || path === undefined || text === undefined) return []
  const { version: expectedVersion } = memory
  const { steps, keys, texts } = stepsFor({ key, path, text, expectedVersion }, sources)
  const isCommon = ({ version, text: known }: Common) =>
    version === expectedVersion && known === text && !common?.sent
  return [
    {
      actions,
      steps,
      changes: (memories) =>
        common && isCommon(common)
          ? [{ ...common, ...keptOf({ key, path, text }, keys, texts, memories) }]
          : [],
      isAhead: true,
    },
  ]
}

export function errandsOf(actions: readonly Action[], sources: Sources): Errand[] {
  const { whole, state, paths } = sources
  const sends = actions.filter((each): each is Send => each.does === 'send')
  const deletes = actions.filter((each): each is Delete => each.does === 'delete')
  const moves = movesIn(sends, deletes, state, paths)
  const moved = new Set(moves.values())
  const busy = new Set([...sends, ...deletes].map(({ key }) => key))
  // A file whose key is that of another's piece: the piece makes way.
  const blocked = Map.groupBy(sends, ({ key }) => whole.owners.get(key) ?? '')
  const ahead = [...blocked].flatMap(([owner, each]) =>
    owner === '' || busy.has(owner) ? [] : mending(owner, each, sources),
  )
  const isBlocked = ({ key }: Send) => whole.owners.has(key)
  const sent = (each: Send) => {
    const from = moves.get(each)
    return from ? renaming(from, each, sources) : [sending(each, sources)]
  }
  return [
    ...ahead,
    ...sends.filter((each) => !isBlocked(each)).flatMap(sent),
    ...deletes.filter((each) => !moved.has(each)).map((each) => deleting(each, sources)),
    ...sends.filter(isBlocked).flatMap(sent),
  ]
}

/** What needs no word: metadata that do not say what is there, and pieces of files that are gone. */
export function tidying(actions: readonly Action[], sources: Sources): Errand[] {
  const { raw, whole, state, disk, paths } = sources
  const isHere = (file: string) => state.has(file) || disk.files.has(paths.pathOf(file, {}) ?? '')
  const sent = actions.filter(({ does }) => does === 'send' || does === 'delete')
  const busy = new Set(sent.map(({ key }) => key))
  const unmended = [...whole.unmended].filter((key) => !busy.has(key))
  const gone = [...whole.orphans].filter(([file]) => !busy.has(file) && !isHere(file))
  return [
    ...unmended.flatMap((key) => mending(key, [], sources)),
    ...gone.map(([, keys]): Errand => {
      const steps = keys.map((key) => removing(key, raw.get(key)?.version ?? 0))
      return { actions: [], steps, changes: () => [], isAhead: true }
    }),
  ]
}

/** Of all memories that it is about. */
export const keysIn = ({ steps }: Errand): string[] =>
  steps.flatMap(({ operation }) =>
    'rename' in operation
      ? [operation.rename.from, operation.rename.to]
      : Object.values(operation).map(({ key }) => key),
  )

/** The home would refuse all of it. */
export const hasLongKeys = (errand: Errand): boolean =>
  keysIn(errand).some(({ length }) => length > MOST_CHARACTERS)
