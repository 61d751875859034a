/**
 * What versioned memories are, if everything happens one after the other. It is the one model of
 * them: random tests hold the product to it, whichever way they drive it.
 */
import type { Asked, Change, Edit, Outcome, Refusal, Rename } from './asked.ts'

export type By = 'agent' | 'operator'

/** Null: a delete. Undefined: nothing is kept under that number, or nothing ever was. */
export type Payload = string | null | undefined

/** What each version holds. Version 0 is the nothing before the first. */
export type Versions = readonly Payload[]

export interface Memory {
  readonly versions: Versions
  /** Only the operator changes it. */
  readonly protected: boolean
}

/** By key: what is there, and what is left of what was. */
export type Memories = Readonly<Record<string, Memory>>

const NEVER: Memory = { versions: [undefined], protected: false }

export const at = (memories: Memories, key: string): Memory => memories[key] ?? NEVER

export const latest = (versions: Versions): number => versions.length - 1

export const textOf = (versions: Versions): string | undefined => versions.at(-1) ?? undefined

/** What compare-and-swap expects: 0 where nothing is. */
export const current = (versions: Versions): number =>
  textOf(versions) === undefined ? 0 : latest(versions)

/** Those that can be listed, deletes among them. */
export const kept = (versions: Versions): number[] =>
  versions.flatMap((payload, version) => (payload === undefined ? [] : [version]))

/** Overlapping ones too. */
function occurrencesIn(text: string, passage: string): number {
  let count = 0
  for (let from = text.indexOf(passage); from >= 0; from = text.indexOf(passage, from + 1)) count++
  return count
}

const left = (versions: Versions) =>
  current(versions) > 0 ? {} : { deletedVersion: latest(versions) || undefined }

/** Why a version cannot be read or restored. */
export const absent = (versions: Versions, version: number): Refusal =>
  versions[version] === null || version > latest(versions) ? { is: 'no_version' } : { is: 'gone' }

function edited(versions: Versions, { old, payload }: Edit): string | Refusal {
  const text = textOf(versions) ?? ''
  const occurrences = occurrencesIn(text, old)
  if (occurrences !== 1) {
    return { is: 'not_once', occurrences, currentVersion: current(versions) }
  }
  return text.split(old).join(payload) || { is: 'emptied' }
}

/** Whether it says that nothing is there, rather than that something else is. */
const wantsSomething = ({ kind, expectedVersion }: Change): boolean =>
  kind === 'delete' || (kind === 'edit' && !expectedVersion)

/** What the next version holds if the change is made now, or why it cannot be. */
function decide(versions: Versions, change: Change): string | null | Refusal {
  const { kind, expectedVersion = current(versions) } = change
  const isThere = current(versions) > 0
  if (!isThere && wantsSomething(change)) return { is: 'missing', ...left(versions) }
  if (expectedVersion !== current(versions) || (kind === 'patch' && !isThere)) {
    return { is: 'conflict', currentVersion: current(versions), ...left(versions) }
  }
  if (kind === 'delete') return null
  if (kind === 'edit') return edited(versions, change)
  if (kind === 'restore') return versions[change.version] ?? absent(versions, change.version)
  return (kind === 'append' ? (textOf(versions) ?? '') : '') + change.payload
}

/** What it is answered if it happens now. */
export function answerTo(versions: Versions, change: Change): Outcome {
  const decided = decide(versions, change)
  if (decided === null) return { is: 'deleted', version: versions.length }
  if (typeof decided !== 'string') return decided
  return { is: 'saved', version: versions.length, payload: decided }
}

/** What the next version holds; undefined where none is made. */
export function madeIn(told: Outcome): string | null | undefined {
  if (told.is === 'saved') return told.payload
  return told.is === 'deleted' ? null : undefined
}

const isMade = (told: Outcome): boolean => madeIn(told) !== undefined

/** Its versions go along, and the next one is above all numbers of either key. */
function answerToRename(memories: Memories, { key, to, expectedVersion }: Rename): Outcome {
  const [{ versions }, there] = [at(memories, key), at(memories, to).versions]
  const text = textOf(versions)
  if (text === undefined) return { is: 'missing', ...left(versions) }
  const currentVersion = current(versions)
  if (currentVersion !== expectedVersion) return { is: 'conflict', currentVersion }
  if (key === to || kept(there).length > 0) return { is: 'taken' }
  return { is: 'saved', version: Math.max(latest(versions), latest(there)) + 1, payload: text }
}

/** Puts a version at the end. Protection ends with a delete. */
export function lay(memories: Memories, key: string, payload: string | null): Memories {
  const { versions, protected: was } = at(memories, key)
  const memory = { versions: [...versions, payload], protected: was && payload !== null }
  return { ...memories, [key]: memory }
}

/** What stays behind is a number more. */
function moved(memories: Memories, { key, to }: Rename, version: number): Memories {
  const before = at(memories, key)
  const gone = Array.from({ length: before.versions.length + 1 }, () => undefined)
  const along = Array.from({ length: version }, (_, n) => before.versions[n])
  const renamed = { ...before, versions: [...along, textOf(before.versions)] }
  return { ...memories, [key]: { versions: gone, protected: false }, [to]: renamed }
}

export interface Step<Told = Outcome> {
  readonly told: Told
  readonly memories: Memories
}

function after(memories: Memories, asked: Asked, told: Outcome): Memories {
  if (told.is === 'deleted') return lay(memories, asked.key, null)
  if (told.is !== 'saved') return memories
  if (asked.kind === 'rename') return moved(memories, asked, told.version)
  return lay(memories, asked.key, told.payload)
}

/** One change: it is made, or everything stays. */
export function change(memories: Memories, asked: Asked, by: By = 'operator'): Step {
  const { versions, protected: isProtected } = at(memories, asked.key)
  const told = asked.kind === 'rename' ? answerToRename(memories, asked) : answerTo(versions, asked)
  if (by === 'agent' && isProtected && isMade(told)) {
    return { told: { is: 'protected' }, memories }
  }
  return { told, memories: after(memories, asked, told) }
}

/** Each on the result of those before it: all of them are made, or everything stays. */
export function batch(
  memories: Memories,
  asked: readonly Asked[],
  by: By,
): Step<readonly Outcome[]> {
  let now = memories
  const told = asked.map((each) => {
    const step = change(now, each, by)
    now = step.memories
    return step.told
  })
  if (told.every(isMade)) return { told, memories: now }
  return { told: told.map((each) => (isMade(each) ? { is: 'refused' } : each)), memories }
}

/** By the operator, of texts: the numbers stay, and a memory that is erased whole is deleted. */
export function erase(memories: Memories, key: string, what: 'all' | 'history'): Memories {
  const memory = at(memories, key)
  const { versions } = memory
  const stays = (version: number) => what === 'history' && version === latest(versions)
  const rest = versions.map((payload, version) => (stays(version) ? payload : undefined))
  if (what === 'history') return { ...memories, [key]: { ...memory, versions: rest } }
  const numbers = textOf(versions) === undefined ? rest : [...rest, undefined]
  return { ...memories, [key]: { versions: numbers, protected: false } }
}

export const protect = (memories: Memories, key: string, isProtected: boolean): Memories => ({
  ...memories,
  [key]: { ...at(memories, key), protected: isProtected },
})
