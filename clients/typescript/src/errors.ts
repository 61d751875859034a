/** What can go wrong, as types. No message holds a token or a text of yours. */
import type { Link } from './wire.ts'

/** One thing that is wrong with what was sent. */
export interface Fault {
  /** JSON Pointer into the body, or the name of a parameter. */
  readonly pointer: string
  readonly message: string
}

/** As many faults are said in a message; `errors` has all. */
const MOST_FAULTS = 3

function faultsOf(errors: readonly Fault[]): string {
  const said = errors
    .slice(0, MOST_FAULTS)
    .map(({ pointer, message }) => ` ${pointer || 'The body'}: ${message}.`)
  const more = errors.length - said.length
  return said.join('') + (more > 0 ? ` And ${more} more.` : '')
}

/** The members of a problem (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly code: string
  readonly title?: string
  readonly detail: string
  /** The id of the request, which the home's log knows too. */
  readonly instance?: string
  readonly errors?: readonly Fault[]
  readonly [member: string]: unknown
}

export interface ErrorExtras {
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/**
 * The home refused, or did not answer. `code` never changes its meaning; every code is listed under
 * docs/errors.md of the service.
 *
 * ```ts
 * const refused = await home.write('no spaces', 'x', { expectedVersion: 0 }).catch((error) => error)
 * if (!(refused instanceof HomeError)) throw new Error('a key with a space was taken')
 * console.log(refused.status, refused.code, refused.errors)
 * ```
 */
export class HomeError extends Error {
  readonly code: string
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  readonly detail: string
  readonly requestId: string | undefined
  readonly errors: readonly Fault[]
  /** The members that only problems of this code have: docs/errors.md shows them. */
  readonly details: Readonly<Record<string, unknown>>
  /** Seconds after which the home wants to be asked again. */
  readonly retryAfter: number | undefined

  constructor(problem: Problem, { retryAfter, cause }: ErrorExtras = {}) {
    const { type: _, code, status, title, detail, instance, errors = [], ...details } = problem
    const request = instance === undefined ? '' : `, request ${instance}`
    const begin = title === undefined ? '' : `${title}. `
    super(`${begin}${detail}${faultsOf(errors)} (${code}${request})`, { cause })
    this.name = new.target.name
    this.code = code
    this.status = status
    this.detail = detail
    this.requestId = instance
    this.errors = errors
    this.details = details
    this.retryAfter = retryAfter
  }
}

const numberIn = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined

const stringIn = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

/**
 * Another version is there, and nothing was written: read, reconcile, write again. `update` does.
 *
 * ```ts
 * const error = await home.write('plan', 'B', { expectedVersion: 0 }).catch((error) => error)
 * if (!(error instanceof VersionConflict)) throw new Error('somebody’s text was overwritten')
 * console.log(error.currentVersion, error.updatedAt, error.sameContent)
 * ```
 */
export class VersionConflict extends HomeError {
  /** 0 if no memory has the key. */
  readonly currentVersion: number
  readonly updatedAt: string | undefined
  /** What is stored equals what was sent. */
  readonly sameContent: boolean
  /** Where the memory was deleted or renamed: the version that ended it. */
  readonly deletedVersion: number | undefined
  readonly deletedAt: string | undefined
  /** The newest version that can be restored; undefined if none can be. */
  readonly lastVersion: number | undefined
  /** Where the memory was renamed: its new key. */
  readonly renamedTo: string | undefined

  constructor(problem: Problem, extras?: ErrorExtras) {
    super(problem, extras)
    this.currentVersion = numberIn(problem.currentVersion) ?? 0
    this.updatedAt = stringIn(problem.updatedAt)
    this.sameContent = problem.sameContent === true
    this.deletedVersion = numberIn(problem.deletedVersion)
    this.deletedAt = stringIn(problem.deletedAt)
    this.lastVersion = numberIn(problem.lastVersion)
    this.renamedTo = stringIn(problem.renamedTo)
  }
}

/** Why one operation of a batch cannot be made, with what it would be refused with alone. */
export interface OperationConflict {
  /** Its place in the list, from 0. */
  readonly operation: number
  readonly code: string
  readonly detail: string
  readonly [member: string]: unknown
}

/** As many of a batch's conflicts are said in its message. */
const MOST_REASONS = 3

function reasonsOf(conflicts: readonly OperationConflict[]): string {
  const reasons = conflicts
    .slice(0, MOST_REASONS)
    .map(({ operation, code, detail }) => ` Operation ${operation}: ${code}. ${detail}`)
  const more = conflicts.length - reasons.length
  return reasons.join('') + (more > 0 ? ` And ${more} more.` : '')
}

/**
 * Some operations of a batch cannot be made, so none was.
 *
 * ```ts
 * const error = await home
 *   .batch([{ delete: { key: 'plan', expectedVersion: 7 } }])
 *   .catch((error) => error)
 * if (!(error instanceof BatchConflict)) throw new Error('it was deleted')
 * console.log(error.conflicts[0]?.code, error.conflicts[0]?.currentVersion)
 * ```
 */
export class BatchConflict extends HomeError {
  readonly conflicts: readonly OperationConflict[]

  constructor(problem: Problem, extras?: ErrorExtras) {
    const conflicts: OperationConflict[] = Array.isArray(problem.conflicts) ? problem.conflicts : []
    super({ ...problem, detail: `${problem.detail}${reasonsOf(conflicts)}` }, extras)
    this.conflicts = conflicts
  }
}

/** As many keys of an import are said in its message. */
const MOST_KEYS = 10

function keysOf(keys: readonly string[]): string {
  if (keys.length === 0) return ''
  const more = keys.length > MOST_KEYS ? `, and ${keys.length - MOST_KEYS} more` : ''
  return ` Keys: ${keys.slice(0, MOST_KEYS).join(', ')}${more}.`
}

/**
 * Some of the memories already exist, and nothing was imported.
 *
 * ```ts
 * const kept = await home.export()
 * const error = await operator.import(kept).catch((error) => error)
 * if (!(error instanceof ImportConflict)) throw new Error('a memory was overwritten')
 * console.log(error.conflicts)
 * ```
 */
export class ImportConflict extends HomeError {
  /** Keys: the first of those that have a memory. */
  readonly conflicts: readonly string[]

  constructor(problem: Problem, extras?: ErrorExtras) {
    const conflicts: string[] = Array.isArray(problem.conflicts) ? problem.conflicts : []
    super({ ...problem, detail: `${problem.detail}${keysOf(conflicts)}` }, extras)
    this.conflicts = conflicts
  }
}

/**
 * A change was sent and its answer is lost: it may or may not have been made, and to repeat it could
 * make it twice. Read what is there. `cause` is what came last.
 *
 * ```ts
 * try {
 *   await home.append('log', 'one line\n')
 * } catch (error) {
 *   if (!(error instanceof OutcomeUnknown)) throw error
 *   const log = await home.read('log')
 *   if (!log?.text.endsWith('one line\n')) await home.append('log', 'one line\n')
 * }
 * ```
 */
export class OutcomeUnknown extends HomeError {
  constructor(cause: unknown) {
    const detail =
      'The answer was lost: the change may or may not have been made. Read the memory before you repeat it.'
    super({ status: 0, code: 'outcome_unknown', detail }, { cause })
  }
}

/** The history that is there is not the one that was remembered. */
class HistoryDiffers extends HomeError {
  /** What was remembered. */
  readonly remembered: Link
  /** What is there. */
  readonly found: Link

  constructor(code: string, detail: string, remembered: Link, found: Link) {
    super({ status: 0, code, detail })
    this.remembered = remembered
    this.found = found
  }
}

/**
 * Another event is where one was remembered, or an event is not the one that was chained: an event
 * was changed, dropped or inserted, which takes write access to the database.
 *
 * ```ts
 * const remembered = { id: 1, hash: '00'.repeat(32) }
 * const changed = await home.check({ remembered }).catch((error) => error)
 * if (!(changed instanceof HistoryChanged)) throw new Error('any history was taken')
 * console.log(changed.remembered.id, changed.found.hash)
 * ```
 */
export class HistoryChanged extends HistoryDiffers {
  constructor(remembered: Link, found: Link) {
    const detail = `Event ${remembered.id} of this home differs from the remembered one: its history was changed. Ask the operator, who can run agent-home verify.`
    super('history_changed', detail, remembered, found)
  }
}

/**
 * The home is older than what was remembered: a backup was restored. Everything after the backup is
 * gone. Accept the home as it is now with `check({ accept: true })`.
 *
 * ```ts
 * const remembered = { id: 900, hash: '00'.repeat(32) }
 * const turned = await home.check({ remembered }).catch((error) => error)
 * if (!(turned instanceof TurnedBack)) throw new Error('a home that was turned back was taken')
 * console.log(turned.remembered.id, turned.found.id)
 * ```
 */
export class TurnedBack extends HistoryDiffers {
  constructor(remembered: Link, found: Link) {
    const detail = `This home ends at event ${found.id}, and event ${remembered.id} was remembered: it was turned back, for example by a restored backup. If the operator confirms this, accept it.`
    super('turned_back', detail, remembered, found)
  }
}

type Refused = new (problem: Problem, extras?: ErrorExtras) => HomeError

const KINDS: Readonly<Record<string, Refused>> = {
  version_conflict: VersionConflict,
  batch_conflict: BatchConflict,
  import_conflict: ImportConflict,
}

export const errorFor = (problem: Problem, extras: ErrorExtras): HomeError =>
  new (KINDS[problem.code] ?? HomeError)(problem, extras)
