/** Merges three metadata objects by member. Values are compared as JSON and kept as written. */
import { compact, membersOf } from '../../../../json/members.ts'
import { sameValue } from '../../../../json/same-value.ts'

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

type Sides = Pick<Member, 'name' | 'base' | 'theirs' | 'yours'>

function settled(sides: Sides, knowsBase: boolean): Member {
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
