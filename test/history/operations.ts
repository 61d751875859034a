/** What was asked of a key and answered, as it is recorded. */

export interface Span {
  readonly key: string
  /** Milliseconds on one clock. */
  readonly invokedAt: number
  /** Infinity when no answer came: it may have taken effect at any time, or never. */
  readonly completedAt: number
}

export type Outcome =
  | { readonly is: 'saved'; readonly version: number; readonly payload: string }
  | { readonly is: 'deleted'; readonly version: number }
  | {
      readonly is: 'conflict'
      readonly currentVersion: number
      /** With currentVersion 0: the delete that left nothing there. */
      readonly deletedVersion?: number | undefined
    }
  /** To a delete or an edit: nothing is there. */
  | { readonly is: 'missing'; readonly deletedVersion?: number | undefined }
  /** To an edit: the passage is there so often. */
  | { readonly is: 'not_once'; readonly occurrences: number; readonly currentVersion: number }
  /** To the agent: only the operator may change it. */
  | { readonly is: 'protected' }
  /** Answered, with the promise that nothing was changed. */
  | { readonly is: 'refused' }
  | { readonly is: 'unknown' }

interface Changing extends Span {
  readonly outcome: Outcome
}

export interface Write extends Changing {
  readonly kind: 'write' | 'patch'
  readonly expectedVersion: number
  readonly payload: string
}

export interface Append extends Changing {
  readonly kind: 'append'
  /** Undefined: to whatever is there. */
  readonly expectedVersion?: number | undefined
  /** What is added. */
  readonly payload: string
}

export interface Edit extends Changing {
  readonly kind: 'edit'
  /** Undefined: of whatever is there. */
  readonly expectedVersion?: number | undefined
  /** The passage that must be there once. */
  readonly old: string
  /** What replaces it. */
  readonly payload: string
}

export interface Delete extends Changing {
  readonly kind: 'delete'
  readonly expectedVersion: number
}

export interface Restore extends Changing {
  readonly kind: 'restore'
  readonly expectedVersion: number
  readonly version: number
}

export type Change = Write | Append | Edit | Delete | Restore

export interface Read extends Span {
  readonly kind: 'read'
  /** Version 0 is "nothing there", with an empty payload: it does not say since which delete. */
  readonly version: number
  readonly payload: string
}

export type Operation = Change | Read

/** Of two keys: what is under `key` goes to `to`. What is saved is the version there. */
export interface Rename extends Span {
  readonly kind: 'rename'
  readonly to: string
  readonly expectedVersion: number
  readonly outcome: Outcome | { readonly is: 'taken' }
}

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
