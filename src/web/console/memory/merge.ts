/**
 * The sides of a conflict, merged: the text by lines, the metadata by members, whose values are
 * compared as JSON and kept as written; and what results from the choices about the rest.
 */
import { type FieldError, Problem, problem } from '../../../errors.ts'
import { findMemory, findVersion } from '../../../home/memories/memory.ts'
import type { Fields } from '../../../http/form.ts'
import { parseStrictJson } from '../../../http/json.ts'
import { compact, membersOf } from '../../../json/members.ts'
import {
  assemble,
  type Disputed,
  joinLines,
  mergeTexts,
  type Part,
  withLineFeeds,
} from '../../../merge-lines.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Memory } from '../../../store/port/memories.ts'
import type { Workspace } from '../workspace.ts'
import { type Content, sameMember } from './changes.ts'
import { faultInJson } from './editor.ts'

/** A part whose text is JSON; '' if there is no such member. Without a name: all metadata. */
export type Member = Part & { readonly name: string | undefined }

/** Each disputed member is two fields of a form; more are decided as one. */
const MOST_DISPUTED = 8

function settled(base: string | undefined, theirs: string, yours: string): Part {
  const isSame = (a: string | undefined, b: string) => a !== undefined && sameMember(a, b)
  if (isSame(theirs, yours) || isSame(base, yours)) return { disputed: false, text: theirs }
  if (isSame(base, theirs)) return { disputed: false, text: yours }
  return { disputed: true, base, theirs, yours }
}

const disputedIn = <P extends Part>(parts: readonly P[]): (P & Disputed)[] =>
  parts.filter((part): part is P & Disputed => part.disputed)

/** Each a valid JSON object. */
export function mergeMetadata(base: string | undefined, theirs: string, yours: string): Member[] {
  const [before, there, here] = [base ?? '{}', theirs, yours].map((each) =>
    membersOf(compact(each)),
  )
  const names = new Set([...(there?.keys() ?? []), ...(here?.keys() ?? [])])
  const members = [...names].map((name) => {
    const was = base === undefined ? undefined : (before?.get(name) ?? '')
    return { name, ...settled(was, there?.get(name) ?? '', here?.get(name) ?? '') }
  })
  return disputedIn(members).length > MOST_DISPUTED
    ? [{ name: undefined, disputed: true, base, theirs, yours }]
    : members
}

/** `chosen`: a value for each disputed member, in order; '' omits it. */
export function assembleMetadata(members: readonly Member[], chosen: readonly string[]): string {
  const rest = chosen.values()
  const written = members.map((each) => {
    const value = each.disputed ? rest.next().value : each.text
    return each.name === undefined || !value ? value : `${JSON.stringify(each.name)}:${value}`
  })
  const [first] = members
  if (first && first.name === undefined) return written[0] || '{}'
  return `{${written.filter(Boolean).join(',')}}`
}

export interface Sides {
  readonly key: string
  /** Undefined if it is no longer kept, or never existed. */
  readonly base: Memory | undefined
  readonly theirs: Memory
  readonly yours: Content
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

export interface Merged {
  readonly parts: readonly Part[]
  readonly members: readonly Member[]
}

export const merge = ({ base, theirs, yours }: Sides): Merged => ({
  parts: mergeTexts(base && withLineFeeds(base.text), withLineFeeds(theirs.text), yours.text),
  members: mergeMetadata(base?.metadata, theirs.metadata, yours.metadata),
})

/** Of the text, or of the metadata. */
export type Dispute = Disputed & { readonly name?: string | undefined }

export const isOfMetadata = (part: object): part is Member => 'name' in part

export const disputesIn = ({ parts, members }: Merged): Dispute[] => [
  ...disputedIn(parts),
  ...disputedIn(members),
]

/** The form fields of a choice, and of a text or value written by hand. */
export const choiceField = (at: number): string => `part-${at}`
export const ownField = (at: number): string => `own-part-${at}`

interface Chosen {
  readonly text?: string
  readonly fault?: string
}

function ownValue(json: string): Chosen {
  try {
    if (json.trim() !== '') parseStrictJson(json)
    return { text: json.trim() }
  } catch (error) {
    return { fault: faultInJson(error) ?? 'must be JSON: put a text in quotes' }
  }
}

function chosen(dispute: Dispute, choice: string | undefined, own: string): Chosen {
  const { theirs, yours } = dispute
  if (choice === 'theirs' || choice === 'yours') return { text: dispute[choice] }
  if (choice === 'own') return isOfMetadata(dispute) ? ownValue(own) : { text: withLineFeeds(own) }
  return choice === 'both' && !isOfMetadata(dispute)
    ? { text: joinLines([theirs, yours]) }
    : { fault: 'must be chosen' }
}

/** Throws `invalid_body` with an error for each missing choice. */
export function decide(merged: Merged, sent: Fields): Content {
  const errors: FieldError[] = []
  const texts = disputesIn(merged).map((each, at) => {
    const { text = '', fault } = chosen(each, sent[choiceField(at)], sent[ownField(at)] ?? '')
    if (fault) errors.push({ pointer: `/${choiceField(at)}`, message: fault })
    return text
  })
  if (errors.length > 0) throw problem('invalid_body', { errors })
  const { parts, members } = merged
  return {
    text: assemble(parts, texts),
    metadata: assembleMetadata(members, texts.slice(disputedIn(parts).length)),
  }
}
