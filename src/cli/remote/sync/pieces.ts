/**
 * Which memories are one file. Anybody may write, rename or delete one of them without the others,
 * and without the metadata that were there: what is there in order is the text.
 */
import { isOnePiece } from './cut.ts'
import { whyTooLarge } from './file.ts'
import {
  baseOf,
  isApart,
  isMarked,
  keysUnder,
  type Manifest,
  manifestIn,
  manifestOf,
  numberOf,
} from './manifest.ts'
import type { Paths } from './paths.ts'
import {
  arePieces,
  type Common,
  type Memories,
  type Piece,
  type Remembered,
  type State,
} from './plan.ts'

interface Members {
  /** The first, then the others in order. */
  readonly keys: readonly string[]
  readonly missing?: string | undefined
}

interface Groups {
  /** By file. */
  readonly members: Map<string, Members>
  /** Files by key, of all pieces but the first. */
  readonly owners: Map<string, string>
  readonly manifests: ReadonlyMap<string, Manifest>
  /** Keys by file, of pieces whose first is gone. */
  readonly orphans: Map<string, readonly string[]>
  /** Files by key, of pieces that the file does not have. */
  readonly strays: Map<string, string>
}

export interface Whole extends Pick<Groups, 'owners' | 'orphans'> {
  /** Of files: of those in pieces one, with the whole text. */
  readonly memories: Memories
  /** Keys by file, of files in pieces. */
  readonly members: ReadonlyMap<string, readonly string[]>
  /** Files whose metadata do not say what their pieces are. */
  readonly unmended: ReadonlySet<string>
  /** Keys whose texts have to be read. */
  readonly unread: readonly string[]
  /** Keys of what may have been seen while it was written. */
  readonly doubtful: readonly string[]
  /** Of one memory. */
  readonly textOf: (key: string) => string | undefined
}

interface Sources {
  readonly raw: Memories
  readonly state: State
  readonly paths: Paths
}

function claimed(raw: Memories, manifests: ReadonlyMap<string, Manifest>, marked: Set<string>) {
  const members = new Map<string, Members>()
  const owners = new Map<string, string>()

  function claim([file, { count, base }]: [string, Manifest]): void {
    // Whoever writes a piece without its mark leaves it the file's, under the file's own key.
    const isPiece = (key: string) =>
      raw.has(key) && !manifests.has(key) && !owners.has(key) && (marked.has(key) || base === file)
    // Somebody may have renamed all of them, or the first alone.
    const found = [base, file].find((each) => keysUnder(each, count).every(isPiece))
    const keys = keysUnder(found ?? base, count)
    const others = keys.filter(isPiece)
    members.set(file, { keys: [file, ...others], missing: keys.find((key) => !isPiece(key)) })
    for (const key of others) owners.set(key, file)
  }

  const isOwn = ([key, { base }]: [string, Manifest]) => key === base
  const all = [...manifests]
  for (const each of [...all.filter(isOwn), ...all.filter((one) => !isOwn(one))]) claim(each)
  return { members, owners }
}

function filesByBase({ raw, state, paths }: Sources): (base: string) => string {
  const files = new Map<string, string>()
  const put = (key: string, path: string) => files.set(paths.apart(path).base, key)
  for (const [key, { path }] of state) put(key, path)
  for (const [key, { metadata }] of raw) {
    const path = paths.pathOf(key, metadata)
    if (path !== undefined) put(key, path)
  }
  return (base) => files.get(base) ?? base
}

/** Else whoever may write `a.1` could add to `a`, which may be beyond the reach of that key. */
const wasInPieces = (common: Common | undefined): boolean =>
  [common?.text, common?.sent?.text, common?.received].some((text = '') => !isOnePiece(text))

function grouped(sources: Sources): Groups {
  const { raw, state, paths } = sources
  const manifests = new Map<string, Manifest>()
  const marked = new Set<string>()
  for (const [key, { metadata }] of raw) {
    const manifest = manifestIn(metadata)
    if (manifest) manifests.set(key, manifest)
    else if (isMarked(key, metadata) && paths.isWithin(baseOf(key), metadata)) marked.add(key)
  }
  const { members, owners } = claimed(raw, manifests, marked)
  const orphans = new Map<string, readonly string[]>()
  const strays = new Map<string, string>()
  const loose = Map.groupBy(
    [...marked].filter((key) => !owners.has(key)),
    baseOf,
  )
  const fileAt = loose.size > 0 ? filesByBase(sources) : baseOf
  for (const [base, keys] of loose) {
    const file = fileAt(base)
    const common = state.get(file)
    const known = new Set(common?.pieces?.map(({ key }) => key))
    const isPiece = (key: string) => raw.has(key) && (marked.has(key) || known.has(key))
    const all = keysUnder(base, 1 + Math.max(...keys.map(numberOf)))
    if (!raw.has(file)) orphans.set(file, keys)
    else if (!members.has(file) && wasInPieces(common) && all.every(isPiece)) {
      // Somebody wrote the first without its manifest.
      members.set(file, { keys: [file, ...all] })
      for (const key of all) owners.set(key, file)
    } else for (const key of keys) strays.set(key, file)
  }
  return { members, owners, manifests, orphans, strays }
}

/** Texts of the pieces that were last common, as far as they are still the same versions. */
function knownTexts({ state, raw }: Sources): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { pieces, text = '' } of state.values()) {
    let at = 0
    for (const { key, version, length } of pieces ?? []) {
      if (raw.get(key)?.version === version) texts.set(key, text.slice(at, at + length))
      at += length
    }
  }
  return texts
}

const strayOf = (file: string): string =>
  `it is a piece of ${file}, which does not have it: restore ${file} as it was, or delete this one`

const missingIn = (key: string): string =>
  `its piece ${key} is not in the home: restore it, or delete the memory`

/** Whether the metadata say what is there. */
const isMeant = (manifest: Manifest | undefined, text: string, count: number): boolean =>
  JSON.stringify(manifest) === JSON.stringify(manifestOf(text, count, manifest?.base ?? ''))

interface Joined {
  readonly memory?: Remembered
  readonly unread?: readonly string[]
  readonly doubtful?: readonly string[]
  readonly isUnmended?: boolean
}

function joined(
  file: string,
  { keys, missing }: Members,
  manifest: Manifest | undefined,
  { raw, state, paths }: Sources,
  textOf: Whole['textOf'],
): Joined {
  const { version = 0, metadata = {} } = raw.get(file) ?? {}
  if (missing !== undefined) {
    const doubtful = paths.isWithin(missing, {}) ? [...keys, missing] : keys
    return { memory: { version, metadata, why: missingIn(missing) }, doubtful }
  }
  const texts = keys.map(textOf)
  const pieces = keys.map((key, at): Piece => {
    return { key, version: raw.get(key)?.version ?? 0, length: texts[at]?.length ?? 0 }
  })
  const common = state.get(file)
  if (common?.version === version && arePieces(pieces, common.pieces)) {
    return { memory: { version, metadata, pieces } }
  }
  const unread = keys.filter((_, at) => texts[at] === undefined)
  if (unread.length > 0) return { unread }
  const text = texts.join('')
  const why = whyTooLarge(text)
  const memory = { version, metadata, text, pieces, ...(why !== undefined && { why }) }
  if (!isMeant(manifest, text, keys.length)) return { memory, doubtful: keys, isUnmended: true }
  const { base } = manifest ?? { base: '' }
  return { memory, isUnmended: keys[1] !== `${base}.1` || (base !== file && !isApart(base)) }
}

/** What the home has, with one memory for each file. */
export function assemble(raw: Memories, state: State, paths: Paths): Whole {
  const sources = { raw, state, paths }
  const groups = grouped(sources)
  const known = knownTexts(sources)
  const { members, owners, orphans, strays } = groups
  const textOf = (key: string) => raw.get(key)?.text ?? known.get(key)
  const left = [...orphans.values()].flat()
  const doubtful = [...strays.keys(), ...strays.values(), ...orphans.keys(), ...left]
  const unread: string[] = []
  const unmended = new Set<string>()
  const whole = {
    ...{ memories: raw, owners, orphans, unread, doubtful, unmended, textOf },
    members: new Map([...members].map(([file, { keys }]) => [file, keys])),
  }
  // Of many files without pieces there is no second list.
  if (members.size + doubtful.length + known.size === 0) return whole
  const memories = new Map(raw)
  for (const key of [...owners.keys(), ...left]) memories.delete(key)
  for (const [file, each] of members) {
    const found = joined(file, each, groups.manifests.get(file), sources, textOf)
    if (found.memory) memories.set(file, found.memory)
    unread.push(...(found.unread ?? []))
    doubtful.push(...(found.doubtful ?? []))
    if (found.isUnmended) unmended.add(file)
  }
  for (const [key, file] of strays) {
    const { version = 0, metadata = {} } = raw.get(key) ?? {}
    memories.set(key, { version, metadata, why: strayOf(file) })
  }
  // What was in pieces is in one memory now.
  for (const [key, { pieces }] of state) {
    const memory = memories.get(key)
    if (!pieces || !memory || members.has(key) || memory.text !== undefined) continue
    const text = textOf(key)
    if (text === undefined) unread.push(key)
    else memories.set(key, { ...memory, text })
  }
  return { ...whole, memories }
}
