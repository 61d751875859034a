/** What brings a directory and a home together, as a pure function of both and of what was last common. */
import type { Metadata } from 'agent-home-client'
import { mergeTexts } from '../../../merge-lines.ts'
import { whyUnusable } from './names.ts'
import { clashes, type Folding, type Paths, type Standing } from './paths.ts'

/** One memory of a file that is kept in several. */
export interface Piece {
  readonly key: string
  readonly version: number
  /** Of its text, as a string counts. */
  readonly length: number
}

/** What a file and its memory had in common when they were last the same. */
export interface Common {
  readonly path: string
  /** Of the memory; 0: it was none that the home has. */
  readonly version: number
  /** Undefined: nothing was common yet. */
  readonly text: string | undefined
  /** Of which the text is, if it is in several; the first has the file's key and version. */
  readonly pieces?: readonly Piece[] | undefined
  /** What was sent last, and what the file was then, unless it is known to have arrived. */
  readonly sent?: { readonly text: string; readonly from: string } | undefined
  /** What the file was to become, unless it is known that it did. */
  readonly received?: string | undefined
  /** The version that was put beside the file, until that is removed. */
  readonly beside?: { readonly version: number; readonly text: string } | undefined
}

export interface Disk {
  /** Texts by path. */
  readonly files: ReadonlyMap<string, string>
  /** Why what is at a path is left alone, and all below it. */
  readonly unfit: ReadonlyMap<string, string>
  /** Files that have a version of the home beside them. */
  readonly besides: ReadonlySet<string>
  readonly standing: readonly Standing[]
}

export interface Remembered {
  readonly version: number
  readonly metadata: Metadata
  /** Undefined: it is the version that was last common. */
  readonly text?: string | undefined
  readonly pieces?: readonly Piece[] | undefined
  /** Why the memory cannot be a file now. */
  readonly why?: string
}

export type State = ReadonlyMap<string, Common>
export type Memories = ReadonlyMap<string, Remembered>

interface Of {
  readonly key: string
  readonly path: string
}

/** By which words its line begins, too. */
export type Action = Of &
  (
    | { readonly does: 'agree'; readonly version: number; readonly text: string }
    | { readonly does: 'forget' }
    /** `expected`: the text that the file has now; undefined: there is none. */
    | {
        readonly does: 'receive'
        readonly version: number
        readonly text: string
        readonly expected: string | undefined
        readonly base: string | undefined
      }
    | { readonly does: 'remove'; readonly expected: string }
    | {
        readonly does: 'send'
        readonly text: string
        readonly expectedVersion: number
        /** What is common until it has arrived. */
        readonly base: string | undefined
        /** The home deleted what was common. */
        readonly isRevival?: boolean
        /** The text of the file, of which this is a merge. */
        readonly mergedFrom?: string
      }
    | { readonly does: 'delete'; readonly expectedVersion: number }
    | { readonly does: 'conflict'; readonly version: number; readonly text: string }
    | { readonly does: 'wait' }
    | { readonly does: 'leave'; readonly why: string }
  )

type Deed<T = Action> = T extends Of ? Omit<T, keyof Of> : never

export interface Sides {
  readonly disk: Disk
  readonly memories: Memories
  readonly state: State
  readonly paths: Paths
  readonly folding: Folding
  /** Nothing is sent. */
  readonly readOnly: boolean
  /** Whether nothing is done about a path on either side. */
  readonly ignores: (path: string) => boolean
}

/** Undefined where both changed the same lines, or nothing common is known. */
function merged(base: string | undefined, theirs: string, yours: string): string | undefined {
  if (base === undefined) return undefined
  const parts = mergeTexts(base, theirs, yours)
  if (parts.some(({ disputed }) => disputed)) return undefined
  return parts.map((part) => (part.disputed ? '' : part.text)).join('')
}

interface Three {
  readonly yours: string | undefined
  readonly theirs: string | undefined
  readonly base: string | undefined
  /** Of the memory; 0: there is none. */
  readonly version: number
}

/** What one side removed and the other changed comes back: a removal undoes no change. */
function deedOf({ yours, theirs, base, version }: Three): Deed {
  if (yours === theirs) {
    return theirs === undefined ? { does: 'forget' } : { does: 'agree', version, text: theirs }
  }
  if (theirs === undefined) {
    const text = yours ?? ''
    if (yours === base) return { does: 'remove', expected: text }
    return { does: 'send', text, expectedVersion: 0, base, isRevival: base !== undefined }
  }
  const receive: Deed = { does: 'receive', version, text: theirs, expected: yours, base }
  if (yours === undefined) {
    return theirs === base ? { does: 'delete', expectedVersion: version } : receive
  }
  if (yours === base) return receive
  if (theirs === base) return { does: 'send', text: yours, expectedVersion: version, base }
  const text = merged(base, theirs, yours)
  if (text === undefined) return { does: 'conflict', version, text: theirs }
  if (text === theirs) return receive
  return { does: 'send', text, expectedVersion: version, base, mergedFrom: yours }
}

/** The first of the nodes on the way to a path, and the path itself, that is left alone. */
function unfitAt(path: string, { unfit }: Disk): string | undefined {
  if (unfit.size === 0) return undefined
  for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
    const why = unfit.get(path.slice(0, end))
    if (why !== undefined) return `${path.slice(0, end)}: ${why}`
  }
  return unfit.get(path)
}

/** Whether a text is still in the same versions of the same memories. */
export const arePieces = (
  these: readonly Piece[] | undefined,
  those: readonly Piece[] | undefined,
): boolean =>
  these?.length === those?.length &&
  (these ?? []).every(
    ({ key, version }, at) => key === those?.[at]?.key && version === those[at].version,
  )

/** Undefined: nothing is to be done. */
function deedFor(key: string, path: string, sides: Sides): Deed | undefined {
  const deed = requiredFor(key, path, sides)
  const common = sides.state.get(key)
  const isKnown =
    deed.does === 'agree' &&
    deed.version === common?.version &&
    deed.text === common.text &&
    arePieces(sides.memories.get(key)?.pieces, common.pieces)
  return isKnown && !common.beside ? undefined : deed
}

function requiredFor(key: string, path: string, { disk, memories, state }: Sides): Deed {
  const memory = memories.get(key)
  const why = unfitAt(path, disk) ?? whyUnusable(path) ?? memory?.why
  if (why !== undefined) return { does: 'leave', why }
  const common = state.get(key)
  const yours = disk.files.get(path)
  const isKnown = memory !== undefined && memory.version === common?.version
  const theirs = isKnown ? (memory.text ?? common.text) : memory?.text
  const version = memory?.version ?? 0
  // Taken for a deletion, it would cost a file.
  if (memory && theirs === undefined) throw new TypeError(`the text of ${key} was not read`)
  if (common?.beside && yours !== theirs) {
    if (disk.besides.has(path)) return { does: 'wait' }
    const shown = common.beside
    return deedOf({ yours, theirs, base: shown.text, version })
  }
  return deedOf({ yours, theirs, base: baseOf(common, { yours, theirs }), version })
}

/** What is there may be what came there without being recorded, as before a kill. */
function baseOf(
  common: Common | undefined,
  { yours, theirs }: Pick<Three, 'yours' | 'theirs'>,
): string | undefined {
  if (!common) return undefined
  const { text, sent, received } = common
  if (sent && sent.text === theirs) return sent.from
  if (received !== undefined && received === yours) return received
  return text
}

const unsent = (action: Action): Action => {
  if (action.does !== 'send' && action.does !== 'delete') return action
  const { key, path } = action
  const what = action.does === 'delete' ? 'removed' : 'changed'
  return { key, path, does: 'leave', why: `${what} here, and nothing is sent: --read-only` }
}

/** Every key of either side and of what was common, each once. */
function pathsByKey({ disk, memories, state, paths, ignores }: Sides): Map<string, string> {
  const all = new Map<string, string>()
  const put = (key: string, path: string) => !ignores(path) && all.set(key, path)
  for (const [key, { path }] of state) put(key, path)
  for (const path of disk.files.keys()) put(paths.keyOf(path), path)
  for (const [key, { metadata }] of memories) {
    const path = paths.pathOf(key, metadata)
    if (path !== undefined) put(key, path)
  }
  return all
}

/** Memories that are no file's, and what on the disk is none. */
function leftAlone(
  { disk, memories, paths, ignores }: Sides,
  named: ReadonlyMap<string, string>,
): Action[] {
  const isIgnored = (key: string, { metadata }: Remembered) => {
    const path = paths.pathOf(key, metadata)
    return path !== undefined && ignores(path)
  }
  const keys = [...memories].filter(([key, memory]) => !named.has(key) && !isIgnored(key, memory))
  const known = new Set(named.values())
  const unfit = [...disk.unfit].filter(([path]) => !known.has(path))
  return [
    ...keys.map(
      ([key, { metadata }]): Action => ({ key, does: 'leave', ...paths.unusable(key, metadata) }),
    ),
    ...unfit.map(([path, why]): Action => ({ key: paths.keyOf(path), path, does: 'leave', why })),
  ]
}

export function plan(sides: Sides): Action[] {
  const named = pathsByKey(sides)
  const actions = [...named].flatMap(([key, path]): Action[] => {
    const deed = deedFor(key, path, sides)
    return deed ? [{ key, path, ...deed }] : []
  })
  const created = actions.flatMap((each) =>
    each.does === 'receive' && each.expected === undefined ? [each.path] : [],
  )
  const why = clashes(created, sides.disk.standing, sides.folding)
  const possible = actions.map((each): Action => {
    const clash = each.does === 'receive' ? why.get(each.path) : undefined
    return clash === undefined
      ? each
      : { key: each.key, path: each.path, does: 'leave', why: clash }
  })
  const done = sides.readOnly ? possible.map(unsent) : possible
  return [...done, ...leftAlone(sides, named)]
}

/** Of a directory or a home that lost most of what it had, whoever may have wanted that says so. */
const MOST_UNASKED = 10

export interface Losses {
  readonly here: number
  readonly there: number
  readonly of: number
}

/** Undefined: no more is removed than anybody may want. */
export function lossesIn(actions: readonly Action[], state: State): Losses | undefined {
  const count = (does: Action['does']) => actions.filter((each) => each.does === does).length
  const [here, there] = [count('remove'), count('delete')]
  const isMuch = (lost: number) => lost > MOST_UNASKED && lost > state.size / 2
  return isMuch(here) || isMuch(there) ? { here, there, of: state.size } : undefined
}

/** A memory never goes back to an earlier version, unless the home did. */
export const isTurnedBack = (memories: Memories, state: State): boolean =>
  [...state].some(([key, { version }]) => (memories.get(key)?.version ?? version) < version)
