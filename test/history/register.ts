/** What one key is, if everything happens one after the other. */
import type { Change, Edit, Operation, Outcome, Read } from './operations.ts'

/** Undefined: nothing is there. */
export type Payload = string | undefined

/** What each version holds. Version 0 is the nothing before the first. */
export type Versions = readonly Payload[]

export const latest = (versions: Versions): number => versions.length - 1

export const current = (versions: Versions): number =>
  versions.at(-1) === undefined ? 0 : latest(versions)

/** Overlapping ones too. */
function occurrencesIn(text: string, passage: string): number {
  let count = 0
  for (let at = text.indexOf(passage); at >= 0; at = text.indexOf(passage, at + 1)) count++
  return count
}

const edited = (text: string, { old, payload }: Edit): { payload: Payload } | undefined =>
  occurrencesIn(text, old) === 1 ? { payload: text.split(old).join(payload) } : undefined

/** What the next version holds if the change is made now; undefined where it cannot be. */
export function madeBy(versions: Versions, change: Change): { payload: Payload } | undefined {
  const { kind, expectedVersion = current(versions) } = change
  if (expectedVersion !== current(versions)) return undefined
  if (kind === 'write') return { payload: change.payload }
  if (kind === 'append') return { payload: (versions.at(-1) ?? '') + change.payload }
  if (kind === 'restore') {
    const payload = versions[change.version]
    return payload === undefined ? undefined : { payload }
  }
  if (expectedVersion === 0) return undefined
  if (kind === 'edit') return edited(versions.at(-1) ?? '', change)
  return { payload: kind === 'patch' ? change.payload : undefined }
}

function wasMade(versions: Versions, change: Change): boolean {
  const made = madeBy(versions, change)
  const { outcome } = change
  if (!made) return false
  if (outcome.is === 'deleted')
    return made.payload === undefined && outcome.version === versions.length
  return (
    outcome.is === 'saved' &&
    outcome.version === versions.length &&
    outcome.payload === made.payload
  )
}

export const sees = (versions: Versions, currentVersion: number, deletedVersion = 0): boolean =>
  currentVersion === current(versions) &&
  (currentVersion > 0 || deletedVersion === latest(versions))

const reads = (versions: Versions, { version, payload }: Read): boolean =>
  version === current(versions) && payload === (versions.at(-1) ?? '')

function isRefusal(versions: Versions, change: Change, outcome: Outcome): boolean {
  const { kind, expectedVersion = current(versions) } = change
  if (outcome.is === 'missing') {
    const isAsked = kind === 'delete' || (kind === 'edit' && change.expectedVersion === undefined)
    return isAsked && sees(versions, 0, outcome.deletedVersion)
  }
  if (outcome.is === 'not_once') {
    const { occurrences, currentVersion } = outcome
    const isAsked = kind === 'edit' && expectedVersion === currentVersion
    const count = isAsked ? occurrencesIn(versions.at(-1) ?? '', change.old) : 1
    return count !== 1 && count === occurrences && sees(versions, currentVersion)
  }
  if (outcome.is !== 'conflict') return true
  const { currentVersion, deletedVersion } = outcome
  return expectedVersion !== current(versions) && sees(versions, currentVersion, deletedVersion)
}

/** Whether the operation can be answered so if it happens now. */
export function isTrue(versions: Versions, operation: Operation): boolean {
  if (operation.kind === 'read') return reads(versions, operation)
  const { outcome } = operation
  if (outcome.is === 'saved' || outcome.is === 'deleted') return wasMade(versions, operation)
  return isRefusal(versions, operation, outcome)
}
