/**
 * Is a recorded history of compare-and-swap registers linearizable?
 *
 * A key is a register whose states are its versions, so each operation's place in any legal order
 * is known: a write that made version v comes before everything that saw v, which comes before the
 * write that made v + 1. What is left to check is that real time agrees with those places, and
 * that every version has one writer whose payload is what readers saw. Both are exact, and the
 * cost is that of a sort. Payloads must be unique: no two writes of a history may send the same.
 */

interface Span {
  readonly key: string
  /** Milliseconds on one clock. */
  readonly invokedAt: number
  /** Infinity when no answer came: it may have taken effect at any time, or never. */
  readonly completedAt: number
}

export interface Write extends Span {
  readonly kind: 'write'
  readonly expectedVersion: number
  readonly payload: string
  readonly outcome:
    | { readonly is: 'saved'; readonly version: number; readonly payload: string }
    | { readonly is: 'conflict'; readonly currentVersion: number }
    /** Answered, with the promise that nothing was written. */
    | { readonly is: 'refused' }
    | { readonly is: 'unknown' }
}

export interface Read extends Span {
  readonly kind: 'read'
  /** Version 0 is "no such key", with an empty payload. */
  readonly version: number
  readonly payload: string
}

export type Operation = Write | Read

/** Everything at one place may happen in any order; places follow one another. */
interface Place {
  readonly name: string
  readonly operations: readonly Span[]
}

const versionSeen = (operation: Operation): number | undefined => {
  if (operation.kind === 'read') return operation.version
  return operation.outcome.is === 'conflict' ? operation.outcome.currentVersion : undefined
}

const versionMade = ({ outcome }: Write): number | undefined =>
  outcome.is === 'saved' ? outcome.version : undefined

const mayHaveMade = (write: Write, version: number): boolean =>
  write.outcome.is === 'unknown' && write.expectedVersion === version - 1

/** The earliest moment at which all that comes before could be done, or what forbids it. */
function walk(places: readonly Place[]): string[] {
  const faults: string[] = []
  let notBefore = -Infinity
  for (const { name, operations } of places) {
    for (const { completedAt } of operations) {
      if (completedAt < notBefore) {
        faults.push(`${name} was over at ${completedAt}, before ${notBefore} where it belongs`)
      }
    }
    for (const { invokedAt } of operations) notBefore = Math.max(notBefore, invokedAt)
  }
  return faults
}

/**
 * Of the writes that may have made a version, the one that constrains the rest least. Unknown
 * writes never complete, so the first to be invoked leaves the most room.
 */
function writerOf(version: number, payload: string | undefined, writes: readonly Write[]) {
  const acknowledged = writes.filter((write) => versionMade(write) === version)
  if (acknowledged.length > 0) return acknowledged
  return writes
    .filter((write) => mayHaveMade(write, version))
    .filter((write) => payload === undefined || write.payload === payload)
    .toSorted((a, b) => a.invokedAt - b.invokedAt)
    .slice(0, 1)
}

function checkAnswer({ expectedVersion, payload, outcome }: Write): string[] {
  if (outcome.is === 'conflict' && outcome.currentVersion === expectedVersion) {
    return [`a write that expected ${expectedVersion} was refused although it was current`]
  }
  if (outcome.is !== 'saved') return []
  return [
    ...(outcome.version === expectedVersion + 1
      ? []
      : [`a write that expected ${expectedVersion} made version ${outcome.version}`]),
    ...(outcome.payload === payload ? [] : ['a write was answered with another payload']),
  ]
}

function checkVersion(version: number, writers: readonly Write[], readers: readonly Read[]) {
  const faults: string[] = []
  const [writer, ...others] = writers
  if (!writer) faults.push(`version ${version} was written by nobody`)
  if (others.length > 0) faults.push(`version ${version} was written ${writers.length} times`)
  const payloads = new Set(readers.map((read) => read.payload))
  for (const payload of payloads) {
    if (writer && payload !== writer.payload) faults.push(`version ${version} was read torn`)
  }
  return faults
}

function checkKey(operations: readonly Operation[]): string[] {
  const writes = operations.filter((operation) => operation.kind === 'write')
  const reads = operations.filter((operation) => operation.kind === 'read')
  const seen = Map.groupBy(operations, versionSeen)
  const readsOf = Map.groupBy(reads, (read) => read.version)
  const newest = Math.max(
    0,
    ...operations.map((o) => versionSeen(o) ?? 0),
    ...writes.map((w) => versionMade(w) ?? 0),
  )
  const faults = writes.flatMap(checkAnswer)
  const places: Place[] = [{ name: 'seeing version 0', operations: seen.get(0) ?? [] }]
  for (let version = 1; version <= newest; version++) {
    const readers = readsOf.get(version) ?? []
    const writers = writerOf(version, readers[0]?.payload, writes)
    faults.push(...checkVersion(version, writers, readers))
    places.push({ name: `writing version ${version}`, operations: writers })
    places.push({ name: `seeing version ${version}`, operations: seen.get(version) ?? [] })
  }
  return [...faults, ...walk(places)]
}

/** What makes a history impossible for one register per key, in words; empty when it is linearizable. */
export function faultsOf(history: readonly Operation[]): string[] {
  return [...Map.groupBy(history, (operation) => operation.key)].flatMap(([key, operations]) =>
    checkKey(operations).map((fault) => `${key}: ${fault}`),
  )
}
