/** Changes several files of a program together, keeps what each was, and puts it back. */
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { makeDirectories } from '../../../directories.ts'
import { EXIT } from '../../exit-codes.ts'
import { Failure } from '../../failure.ts'
import { rename } from '../../temporary.ts'
import type { Place } from './clients.ts'
import { applied, type Edit, stripped, Unusable } from './edit.ts'
import type { Target } from './targets.ts'

/** A file that was changed. */
export interface Kept {
  readonly path: string
  /** What it was, in a file beside the record; undefined: there was none. */
  readonly copy?: string | undefined
  /** The SHA-256 of what was written. */
  readonly written: string
  /** Directories that were made for it, the outermost first. */
  readonly made: readonly string[]
}

export interface Change extends Target {
  /** Before anything was connected; undefined: no file. */
  readonly before: string | undefined
  readonly now: string | undefined
  readonly after: string
  readonly kept: Kept | undefined
}

const failed = (message: string): Failure => new Failure(EXIT.failed, message)

const NOTHING = 'Nothing was changed.'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Undefined: there is none. Throws Failure if it is no text. */
function readText(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  try {
    return decoder.decode(readFileSync(path))
  } catch {
    throw failed(`${path} cannot be read as UTF-8. ${NOTHING}`)
  }
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true

const isBelow = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)

/** The nearest directory above that exists. */
const standing = (path: string): string => (existsSync(path) ? path : standing(dirname(path)))

/**
 * Links of the person are followed. A project, which may be of strangers, must not lead a write
 * out of itself, and a file of ours alone is no link. Throws Failure.
 */
function followed({ path, edit }: Target, { scope, root }: Place): string {
  if (isLink(path) && !existsSync(path))
    throw failed(`${path} is a link that leads nowhere. Remove it. ${NOTHING}`)
  if (isLink(path) && edit.kind === 'text')
    throw failed(`${path} is a link. Remove it: this file is written whole. ${NOTHING}`)
  const above = standing(path)
  const real = join(realpathSync(above), relative(above, path))
  if (scope === 'project' && !isBelow(real, realpathSync(root)))
    throw failed(`${path} is a link out of the project. Remove it. ${NOTHING}`)
  return real
}

function attempt<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Unusable)) throw error
    throw failed(`${path} ${error.message}. ${NOTHING} Repair it, and repeat the command.`)
  }
}

/** What a file was, given what was kept of it. */
export type Copies = (copy: string) => string

function beforeOf(now: string | undefined, edit: Edit, kept: Kept | undefined, copies: Copies) {
  if (!kept) return now
  const before = kept.copy === undefined ? undefined : copies(kept.copy)
  if (now === undefined || hashOf(now) === kept.written) return before
  return edit.kind === 'text' ? before : stripped(edit, now, before)
}

/** The files that have to be changed. Throws Failure, before anything is. */
export function changesOf(
  targets: readonly Target[],
  place: Place,
  kept: readonly Kept[],
  copies: Copies,
): readonly Change[] {
  return targets.flatMap((target): Change[] => {
    const path = followed(target, place)
    const now = readText(path)
    const own = kept.find((each) => each.path === path)
    return attempt(path, () => {
      if (now !== undefined && applied(target.edit, now) === now) return []
      const before = beforeOf(now, target.edit, own, copies)
      return [{ ...target, path, before, now, after: applied(target.edit, before), kept: own }]
    })
  })
}

/** Atomically, with the mode that it has. */
function replace(path: string, text: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  const beside = `${path}.${process.pid}.part`
  writeFileSync(beside, text, { flush: true, ...(mode !== undefined && { mode }) })
  if (mode !== undefined) chmodSync(beside, mode & 0o7777)
  rename(beside, path)
}

/** Those that are missing, the outermost first. */
const missingAbove = (path: string): readonly string[] =>
  existsSync(dirname(path)) ? [] : [...missingAbove(dirname(path)), dirname(path)]

/** What is kept of the changes, before they are written; `at`: the directory of the copies. */
export function keep(changes: readonly Change[], at: string): readonly Kept[] {
  makeDirectories(at, 0o700)
  return changes.map(({ path, before, after, kept }) => {
    const copy = `${hashOf(path).slice(0, 8)}-${basename(path)}`
    if (before !== undefined) writeFileSync(join(at, copy), before, { mode: 0o600, flush: true })
    return {
      path,
      copy: before === undefined ? undefined : copy,
      written: hashOf(after),
      made: kept?.made ?? missingAbove(path),
    }
  })
}

export function write(changes: readonly Change[]): void {
  for (const { path, after } of changes) {
    makeDirectories(dirname(path))
    replace(path, after)
  }
}

/** What a file has to be, to be as it was; the same as now if it is. */
function restoredOf(kept: Kept, now: string, edit: Edit | undefined, copies: Copies) {
  const before = kept.copy === undefined ? undefined : copies(kept.copy)
  if (hashOf(now) === kept.written) return before
  if (!edit) return now
  const left = stripped(edit, now, before)
  return before === undefined && /^\s*(\{\s*\})?\s*$/.test(left) ? undefined : left
}

export interface Restoration {
  readonly path: string
  readonly now: string
  /** Undefined: it is removed. */
  readonly after: string | undefined
  /** A file of ours alone that somebody else changed stays. */
  readonly isLeft: boolean
  readonly made: readonly string[]
}

/** What puts the files back. Throws Failure, before anything is changed. */
export function restorationsOf(
  kept: readonly Kept[],
  targets: readonly Target[],
  place: Place,
  copies: Copies,
): readonly Restoration[] {
  const edits = new Map(targets.map((each) => [followed(each, place), each.edit]))
  return kept.flatMap((each): Restoration[] => {
    const now = readText(each.path)
    if (now === undefined) return []
    const edit = edits.get(each.path)
    const after = attempt(each.path, () => restoredOf(each, now, edit, copies))
    const isLeft = hashOf(now) !== each.written && edit?.kind === 'text'
    return [{ path: each.path, now, after, isLeft, made: each.made }]
  })
}

function removeEmpty(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // It is in use, or gone.
  }
}

export function restore(restorations: readonly Restoration[]): void {
  for (const { path, now, after } of restorations) {
    if (after === undefined) rmSync(path)
    else if (after !== now) replace(path, after)
  }
  const made = new Set(restorations.flatMap((each) => each.made))
  for (const directory of [...made].reverse()) removeEmpty(directory)
}
