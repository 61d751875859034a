/** What was chosen about each disputed part -> one text and its metadata. */
import { type FieldError, problem } from '../../../../errors.ts'
import type { Fields } from '../../../../http/form.ts'
import { parseStrictJson } from '../../../../http/json.ts'
import { faultInJson } from '../written.ts'
import { withLineFeeds } from './line-ends.ts'
import { assemble, type Disputed, joinLines } from './merge-lines.ts'
import { assembleMetadata, type Member } from './merge-metadata.ts'
import { disputedMembers, disputedParts, type Merged } from './sides.ts'

/** The fields of a form: what is chosen, and what was written instead. */
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

/** An empty field leaves the member out. */
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

/** Throws `invalid_body`, which names each part that is not decided. */
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
