/**
 * The sides of a conflict, merged: the text by lines, the metadata by members, whose values are
 * compared as JSON and kept as written; and what results from the choices about the rest.
 */
import { type FieldError, Problem, problem } from '../../../errors.ts'
import { findMemory, findVersion } from '../../../home/memories/memory.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact, membersOf } from '../../../json/members.ts'
import { sameValue } from '../../../json/same-value.ts'
import {
  assemble,
  type Disputed,
  joinLines,
  mergeTexts,
  type Part,
  withLineFeeds,
} from '../../../merge-lines.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Memory } from '../../../store/port/keeping/memories.ts'
import type { Workspace } from '../workspace.ts'
import { faultInJson } from './editor.ts'

/** A value as written; undefined if there is no such member. */
type Value = string | undefined

export interface Member {
  readonly name: string
  /** Also undefined if the common base is not known. */
  readonly base: Value
  readonly theirs: Value
  readonly yours: Value
  readonly disputed: boolean
  /** The merged value, unless it is disputed. */
  readonly value: Value
}

/** Each disputed member is two fields of a form. */
const MOST_DISPUTED = 8

const same = (a: Value, b: Value): boolean =>
  a === b || (a !== undefined && b !== undefined && sameValue(a, b))

function settled(sides: Omit<Member, 'disputed' | 'value'>, knowsBase: boolean): Member {
  const { base, theirs, yours } = sides
  if (same(theirs, yours)) return { ...sides, disputed: false, value: theirs }
  if (knowsBase && same(base, yours)) return { ...sides, disputed: false, value: theirs }
  if (knowsBase && same(base, theirs)) return { ...sides, disputed: false, value: yours }
  return { ...sides, disputed: true, value: undefined }
}

export interface MergedMetadata {
  readonly theirs: string
  readonly yours: string
  readonly members: readonly Member[]
  /** Too much is disputed, so a single member stands for all metadata. */
  readonly whole: boolean
}

const wholeOf = (base: Value, theirs: string, yours: string): Member => ({
  name: 'All metadata',
  base,
  theirs,
  yours,
  disputed: true,
  value: undefined,
})

/** Each a valid JSON object. */
export function mergeMetadata(base: Value, theirs: string, yours: string): MergedMetadata {
  const [before, there, here] = [base ?? '{}', theirs, yours].map((each) =>
    membersOf(compact(each)),
  )
  const names = new Set([...(there?.keys() ?? []), ...(here?.keys() ?? [])])
  const members = [...names].map((name) =>
    settled(
      { name, base: before?.get(name), theirs: there?.get(name), yours: here?.get(name) },
      base !== undefined,
    ),
  )
  const whole = members.filter(({ disputed }) => disputed).length > MOST_DISPUTED
  return { theirs, yours, whole, members: whole ? [wholeOf(base, theirs, yours)] : members }
}

/** `chosen`: a value for each disputed member, in order; undefined omits it. */
export function assembleMetadata(merged: MergedMetadata, chosen: readonly Value[]): string {
  const rest = chosen.values()
  const values = merged.members.map(({ name, disputed, value }) => ({
    name,
    value: disputed ? rest.next().value : value,
  }))
  if (merged.whole) return values[0]?.value ?? '{}'
  const written = values.flatMap(({ name, value }) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${value}`],
  )
  const text = `{${written.join(',')}}`
  return [merged.theirs, merged.yours].find((each) => sameValue(each, text)) ?? text
}

export interface Sides {
  readonly key: string
  /** Undefined if it is no longer kept, or never existed. */
  readonly base: Memory | undefined
  readonly theirs: Memory
  readonly yours: Pick<Memory, 'text' | 'metadata'>
}

export interface Merged {
  readonly parts: readonly Part[]
  readonly metadata: MergedMetadata
}

const numberIn = (text: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined

/** Undefined if the version was pruned or erased, or never existed. */
async function kept(workspace: Workspace, identity: Identity, key: string, version?: number) {
  if (!version) return undefined
  try {
    return await findVersion(workspace, identity, key, version)
  } catch (error) {
    const gone = error instanceof Problem && /^version_/.test(error.code)
    if (gone) return undefined
    throw error
  }
}

/**
 * `sent`: key, text, metadata, the `base` they began with, and the version `theirs` that they were
 * shown beside; without that, beside what is stored now. Throws `memory_not_found`.
 */
export async function findSides(
  workspace: Workspace,
  identity: Identity,
  sent: Fields,
): Promise<Sides> {
  const { key = '', text = '', metadata, base, theirs } = sent
  const version = (each: string | undefined) => kept(workspace, identity, key, numberIn(each))
  return {
    key,
    base: await version(base),
    theirs: (await version(theirs)) ?? (await findMemory(workspace, identity, key)),
    yours: { text: withLineFeeds(text), metadata: metadata || '{}' },
  }
}

export const mergedSides = ({ base, theirs, yours }: Sides): Merged => ({
  parts: mergeTexts(base && withLineFeeds(base.text), withLineFeeds(theirs.text), yours.text),
  metadata: mergeMetadata(base?.metadata, theirs.metadata, yours.metadata),
})

export const disputedParts = ({ parts }: Merged) => parts.filter((part) => part.disputed)

export const disputedMembers = ({ metadata }: Merged) =>
  metadata.members.filter(({ disputed }) => disputed)

export const isDisputed = (merged: Merged): boolean =>
  disputedParts(merged).length + disputedMembers(merged).length > 0

/** The form fields of a choice, and of a text or value written by hand. */
export const partField = (at: number): string => `part-${at}`
export const memberField = (at: number): string => `member-${at}`
export const ownField = (field: string): string => `own-${field}`

export interface Decided {
  readonly text: string
  readonly metadata: string
}

type Chosen<T> = { readonly value: T } | { readonly fault: string }

const UNDECIDED = { fault: 'must be chosen' } as const

function partText({ theirs, yours }: Disputed, field: string, sent: Fields): Chosen<string> {
  switch (sent[field]) {
    case 'theirs':
      return { value: theirs }
    case 'yours':
      return { value: yours }
    case 'both':
      return { value: joinLines([theirs, yours]) }
    case 'own':
      return { value: withLineFeeds(sent[ownField(field)] ?? '') }
    default:
      return UNDECIDED
  }
}

/** An empty field omits the member. */
function ownValue(written: string): Chosen<string | undefined> {
  if (written.trim() === '') return { value: undefined }
  try {
    parseStrictJson(written)
    return { value: written }
  } catch (error) {
    return { fault: faultInJson(error) ?? 'must be JSON: a text stands in quotes' }
  }
}

function memberValue(
  { theirs, yours }: Member,
  field: string,
  sent: Fields,
): Chosen<string | undefined> {
  if (sent[field] === 'theirs') return { value: theirs }
  if (sent[field] === 'yours') return { value: yours }
  return sent[field] === 'own' ? ownValue(sent[ownField(field)] ?? '') : UNDECIDED
}

function values<T>(chosen: readonly Chosen<T>[], fieldOf: (at: number) => string) {
  const faults: FieldError[] = []
  const all: T[] = []
  for (const [at, each] of chosen.entries()) {
    if ('value' in each) all.push(each.value)
    else faults.push({ pointer: `/${fieldOf(at)}`, message: each.fault })
  }
  return { all, faults }
}

/** Throws `invalid_body` with an error for each missing choice. */
export function decide(merged: Merged, sent: Fields): Decided {
  const texts = values(
    disputedParts(merged).map((part, at) => partText(part, partField(at), sent)),
    partField,
  )
  const members = values(
    disputedMembers(merged).map((each, at) => memberValue(each, memberField(at), sent)),
    memberField,
  )
  const errors = [...texts.faults, ...members.faults]
  if (errors.length > 0) throw problem('invalid_body', { errors })
  return {
    text: assemble(merged.parts, texts.all),
    metadata: assembleMetadata(merged.metadata, members.all),
  }
}
