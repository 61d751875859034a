/**
 * Is a recorded history of versioned keys linearizable?
 *
 * A key is a register whose states are its versions, deletes among them, so the place of nearly
 * every operation in any legal order is known: what made version v comes before everything that saw
 * v, which comes before what made v + 1. What is left to check is that real time agrees with those
 * places, and that every version has one maker and holds what it made.
 *
 * Two things have no place of their own. A change that never answered may have made any version
 * that nobody else did: each is tried in turn, so the verdict is exact. A read of nothing does not
 * say which delete it saw: it is placed at the earliest after which everything was still going on
 * when it was sent, because what it then forces on the rest is least.
 */
import { answerTo, current, madeIn } from '../register.ts'
import { type Line, openLine } from './line.ts'
import {
  type Change,
  isChange,
  isRename,
  type Operation,
  type Read,
  type Told,
  versionMade,
  versionSeen,
} from './operations.ts'
import { faultsTogether } from './together.ts'

/** Where so much is open that this does not suffice, the history says too little. */
const MAX_TRIES = 1_000_000

interface Known {
  readonly newest: number
  readonly seers: ReadonlyMap<number | undefined, readonly Operation[]>
  readonly makers: ReadonlyMap<number | undefined, readonly Change[]>
  /** First those that were asked for first: they leave the most room to the others. */
  readonly unanswered: readonly Change[]
  readonly readsOfNothing: readonly Read[]
}

function sort(operations: readonly Operation[]): Known {
  const changes = operations.filter(isChange)
  const makers = Map.groupBy(changes, versionMade)
  const seers = Map.groupBy(operations, versionSeen)
  const unanswered = changes.filter(({ outcome }) => outcome.is === 'unknown')
  return {
    newest: [...makers.keys(), ...seers.keys()].reduce<number>((a, b) => Math.max(a, b ?? 0), 0),
    seers,
    makers,
    unanswered: unanswered.toSorted((a, b) => a.invokedAt - b.invokedAt),
    readsOfNothing: operations.filter(
      (each) => each.kind === 'read' && each.version === 0,
    ) as Read[],
  }
}

/** Of each version: when the first of those was over that come after it was seen. */
function endsOf({ newest, makers, seers }: Known): readonly number[] {
  const ends = [Infinity]
  for (let version = newest; version > 0; version--) {
    const here = [...(makers.get(version) ?? []), ...(seers.get(version) ?? [])]
    ends.push(here.reduce((end, each) => Math.min(end, each.completedAt), ends.at(-1) ?? Infinity))
  }
  return ends.toReversed()
}

/** What may have made the next version. */
function makersOf(line: Line, { makers, unanswered }: Known): Change[] {
  const answered = makers.get(line.versions.length)
  if (answered) return [...answered]
  const possible = unanswered.filter((each) => !line.makers.has(each))
  const isThere = current(line.versions) > 0
  const tried = new Set<string | null>()
  return possible.filter((each) => {
    const made = madeIn(answerTo(line.versions, each))
    // What expects a version can make the next one alone: of those that make the same, the first.
    if (made === undefined) return false
    if (!isThere || each.expectedVersion === undefined) return true
    return !tried.has(made) && tried.add(made)
  })
}

/** What forbids that nothing was read where it was. */
function misread(line: Line, { readsOfNothing }: Known, ends: readonly number[]): string[] {
  const empty = line.versions.flatMap((payload, version) =>
    typeof payload === 'string' ? [] : version,
  )
  return readsOfNothing.flatMap(({ invokedAt, completedAt }) => {
    const at = empty.find((version) => invokedAt <= (ends[version] ?? Infinity))
    if (at !== undefined && completedAt >= line.seenFrom(at)) return []
    return [`nothing was read from ${invokedAt} to ${completedAt}, when something was there`]
  })
}

const byNobody = (version: number) => `version ${version} was written by nobody`

/** What is wrong with the way that goes furthest; nothing as soon as one way explains all. */
function explain(known: Known): string[] {
  const line = openLine(known.seers)
  const ends = endsOf(known)
  const open: Change[][] = []
  let faults = line.faultsAtEnd()
  let furthest = { at: -1, faults }
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const end = line.versions.length - 1
    const isWhole = faults.length === 0 && end >= known.newest
    if (isWhole) faults = misread(line, known, ends)
    if (isWhole && faults.length === 0) return []
    const next = isWhole || faults.length === 0 ? makersOf(line, known) : []
    if (faults.length === 0 && next.length === 0) faults = [byNobody(end + 1)]
    if (faults.length > 0 && end > furthest.at) furthest = { at: end, faults }
    if (next.length > 0) open.push(next)
    while (open.at(-1)?.length === 0) open.pop()
    const maker = open.at(-1)?.shift()
    if (!maker) return furthest.faults
    line.backTo(open.length - 1)
    faults = line.lay(maker)
  }
  throw new Error(`${MAX_TRIES} ways explain nothing, and there are more`)
}

/** What no order could mend. */
const misnumbered = ({ makers }: Known): string[] =>
  [...makers].flatMap(([version, { length }]) => {
    if (version === undefined) return []
    if (version < 1) return [`version ${version} cannot be made`]
    return length > 1 ? [`version ${version} was written ${length} times`] : []
  })

function checkKey(operations: readonly Operation[]): string[] {
  const known = sort(operations)
  const faults = misnumbered(known)
  return faults.length > 0 ? faults : explain(known)
}

/** Keys that renames join, each group under one of them. */
function joined(history: readonly Told[]): (key: string) => string {
  const heads = new Map<string, string>()
  const headOf = (key: string): string => {
    const head = heads.get(key)
    return head === undefined ? key : headOf(head)
  }
  for (const { key, to } of history.filter(isRename)) {
    const [one, other] = [headOf(key), headOf(to)]
    if (one !== other) heads.set(one, other)
  }
  return headOf
}

const isOther = (told: Told): told is Operation => !isRename(told)

/**
 * What makes a history impossible for one register per key, in words; empty when it is linearizable.
 * Keys that were renamed to each other are looked at together.
 */
export function faultsOf(history: readonly Told[]): string[] {
  const headOf = joined(history)
  return [...Map.groupBy(history, ({ key }) => headOf(key))].flatMap(([key, told]) => {
    const faults = told.some(isRename) ? faultsTogether(told) : checkKey(told.filter(isOther))
    return faults.map((fault) => `${key}: ${fault}`)
  })
}
