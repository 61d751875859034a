/** What may be asked of versioned memories, and what is answered. */

export interface Write {
  readonly kind: 'write' | 'patch'
  readonly key: string
  readonly expectedVersion: number
  readonly payload: string
}

export interface Append {
  readonly kind: 'append'
  readonly key: string
  /** Undefined: to whatever is there. */
  readonly expectedVersion?: number | undefined
  /** What is added. */
  readonly payload: string
}

export interface Edit {
  readonly kind: 'edit'
  readonly key: string
  /** Undefined: of whatever is there. */
  readonly expectedVersion?: number | undefined
  /** The passage that must be there once. */
  readonly old: string
  /** What replaces it. */
  readonly payload: string
}

export interface Delete {
  readonly kind: 'delete'
  readonly key: string
  readonly expectedVersion: number
}

export interface Restore {
  readonly kind: 'restore'
  readonly key: string
  readonly expectedVersion: number
  readonly version: number
}

/** What is under `key` goes to `to`. What is saved is the version there. */
export interface Rename {
  readonly kind: 'rename'
  readonly key: string
  readonly to: string
  readonly expectedVersion: number
}

/** Of one key. */
export type Change = Write | Append | Edit | Delete | Restore

export type Asked = Change | Rename

export type Made =
  | { readonly is: 'saved'; readonly version: number; readonly payload: string }
  | { readonly is: 'deleted'; readonly version: number }

export type Refusal =
  | {
      readonly is: 'conflict'
      readonly currentVersion: number
      /** With currentVersion 0: the delete that left nothing there. */
      readonly deletedVersion?: number | undefined
    }
  /** To a delete, an edit or a rename: nothing is there. */
  | { readonly is: 'missing'; readonly deletedVersion?: number | undefined }
  /** To an edit: the passage is there so often. */
  | { readonly is: 'not_once'; readonly occurrences: number; readonly currentVersion: number }
  /** To an edit: it would leave no text. */
  | { readonly is: 'emptied' }
  /** To a restore: the version is not kept any more, or there is none with a text. */
  | { readonly is: 'gone' | 'no_version' }
  /** To a rename: something is, or was, under the new key. */
  | { readonly is: 'taken' }
  /** To the agent: only the operator may change it. */
  | { readonly is: 'protected' }
  /** Nothing was changed, and nothing more is told. */
  | { readonly is: 'refused' }

export type Outcome = Made | Refusal
