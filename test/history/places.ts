/**
 * What several keys are, if everything happens one after the other. A rename moves what one key is to
 * another: its versions go along and the next one is made there, above all numbers of either key; a
 * number more is what stays behind. A key is taken by a memory, and by what was deleted there.
 */
import { isChange, isRename, type Operation, type Rename, type Told } from './operations.ts'
import { current, isTrue, latest, madeBy, type Payload, sees, type Versions } from './register.ts'

interface Place {
  readonly versions: Versions
  /** Its versions are under this key: what was renamed away has left none. */
  readonly kept: boolean
}

export type Places = Readonly<Record<string, Place>>

const NEVER: Place = { versions: [undefined], kept: false }

const at = (places: Places, key: string): Place => places[key] ?? NEVER

const padded = (versions: Versions, length: number): Payload[] =>
  Array.from({ length }, (_, version) => versions[version])

const isLiving = ({ versions }: Place): boolean => current(versions) > 0

function isTaken(places: Places, { key, to }: Rename): boolean {
  const there = at(places, to)
  return key === to || isLiving(there) || there.kept
}

/** Undefined where it cannot be made. */
function moved(places: Places, rename: Rename): { places: Places; version: number } | undefined {
  const { key, to, expectedVersion } = rename
  const from = at(places, key)
  if (!isLiving(from) || current(from.versions) !== expectedVersion) return undefined
  if (isTaken(places, rename)) return undefined
  const version = Math.max(latest(from.versions), latest(at(places, to).versions)) + 1
  const versions = [...padded(from.versions, version), from.versions.at(-1)]
  const left = { versions: padded([], latest(from.versions) + 2), kept: false }
  return { places: { ...places, [key]: left, [to]: { versions, kept: true } }, version }
}

function isRefusal(places: Places, rename: Rename): boolean {
  const { outcome, expectedVersion } = rename
  const from = at(places, rename.key)
  const { versions } = from
  if (outcome.is === 'missing') return !isLiving(from) && sees(versions, 0, outcome.deletedVersion)
  const isOther = current(versions) !== expectedVersion
  if (outcome.is === 'conflict') {
    return isLiving(from) && isOther && sees(versions, outcome.currentVersion)
  }
  if (outcome.is === 'taken') return isLiving(from) && !isOther && isTaken(places, rename)
  return outcome.is === 'refused'
}

function afterRename(places: Places, rename: Rename): Places | undefined {
  const { outcome, to } = rename
  const made = moved(places, rename)
  if (outcome.is === 'unknown') return made?.places ?? places
  if (outcome.is !== 'saved') return isRefusal(places, rename) ? places : undefined
  const isSo = made?.version === outcome.version
  return isSo && made.places[to]?.versions.at(-1) === outcome.payload ? made.places : undefined
}

const MAKES: readonly string[] = ['saved', 'deleted', 'unknown']

function afterOther(places: Places, operation: Operation): Places | undefined {
  const { key } = operation
  const { versions } = at(places, key)
  if (!isTrue(versions, operation)) return undefined
  if (!isChange(operation) || !MAKES.includes(operation.outcome.is)) return places
  const made = madeBy(versions, operation)
  return made ? { ...places, [key]: { versions: [...versions, made.payload], kept: true } } : places
}

/** What the keys are after it, or undefined where it could not have been answered so. */
export const after = (places: Places, told: Told): Places | undefined =>
  isRename(told) ? afterRename(places, told) : afterOther(places, told)
