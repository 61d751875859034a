/** What was asked of a key and answered, as it is recorded. */
import type * as asked from '../asked.ts'

export interface Span {
  readonly key: string
  /** Milliseconds on one clock. */
  readonly invokedAt: number
  /** Infinity when no answer came: it may have taken effect at any time, or never. */
  readonly completedAt: number
}

export type Outcome = asked.Outcome | { readonly is: 'unknown' }

type Recorded<T> = T extends asked.Asked ? T & Span & { readonly outcome: Outcome } : never

export type Write = Recorded<asked.Write>
export type Append = Recorded<asked.Append>
export type Edit = Recorded<asked.Edit>
export type Delete = Recorded<asked.Delete>
export type Restore = Recorded<asked.Restore>
export type Rename = Recorded<asked.Rename>
export type Change = Recorded<asked.Change>

export interface Read extends Span {
  readonly kind: 'read'
  /** Version 0 is "nothing there", with an empty payload: it does not say since which delete. */
  readonly version: number
  readonly payload: string
}

export type Operation = Change | Read

export type Told = Operation | Rename

export const isRename = (told: Told): told is Rename => told.kind === 'rename'

export const isChange = (operation: Operation): operation is Change => operation.kind !== 'read'

/** The version that was answered to whoever made it. */
export const versionMade = ({ outcome }: Change): number | undefined =>
  outcome.is === 'saved' || outcome.is === 'deleted' ? outcome.version : undefined

/** The version that an answer says was there; undefined where it names none. */
export function versionSeen(operation: Operation): number | undefined {
  if (operation.kind === 'read') return operation.version || undefined
  const { outcome } = operation
  if (outcome.is === 'conflict') return outcome.currentVersion || (outcome.deletedVersion ?? 0)
  if (outcome.is === 'not_once') return outcome.currentVersion
  return outcome.is === 'missing' ? (outcome.deletedVersion ?? 0) : undefined
}
