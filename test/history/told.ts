/** What was asked and answered, in few words: each lasts five milliseconds. */
import type { Append, Delete, Edit, Operation, Read, Rename, Restore, Write } from './operations.ts'

export const saved = (at: number, expectedVersion: number, payload: string): Write => ({
  kind: 'write',
  key: 'k',
  invokedAt: at,
  completedAt: at + 5,
  expectedVersion,
  payload,
  outcome: { is: 'saved', version: expectedVersion + 1, payload },
})

export const unknown = (at: number, expectedVersion: number, payload: string): Write => ({
  ...saved(at, expectedVersion, payload),
  completedAt: Infinity,
  outcome: { is: 'unknown' },
})

export const conflict = (at: number, expectedVersion: number, currentVersion: number): Write => ({
  ...saved(at, expectedVersion, `lost at ${at}`),
  outcome: { is: 'conflict', currentVersion },
})

export const read = (at: number, version: number, payload: string): Read => ({
  kind: 'read',
  key: 'k',
  invokedAt: at,
  completedAt: at + 5,
  version,
  payload,
})

const span = (at: number) => ({ key: 'k', invokedAt: at, completedAt: at + 5 })

export const deleted = (at: number, expectedVersion: number): Delete => ({
  ...span(at),
  kind: 'delete',
  expectedVersion,
  outcome: { is: 'deleted', version: expectedVersion + 1 },
})

export const missing = (at: number, deletedVersion?: number): Delete => ({
  ...deleted(at, 1),
  outcome: { is: 'missing', deletedVersion },
})

/** Creates where a delete has left a number. */
export const created = (at: number, version: number, payload: string): Write => ({
  ...saved(at, 0, payload),
  outcome: { is: 'saved', version, payload },
})

export const appended = (at: number, version: number, added: string, payload: string): Append => ({
  ...span(at),
  kind: 'append',
  payload: added,
  outcome: { is: 'saved', version, payload },
})

export const edited = (
  at: number,
  version: number,
  old: string,
  by: string,
  payload: string,
): Edit => ({
  ...span(at),
  kind: 'edit',
  old,
  payload: by,
  outcome: { is: 'saved', version, payload },
})

export const notOnce = (at: number, currentVersion: number, occurrences: number): Edit => ({
  ...edited(at, 0, 'p', 'q', ''),
  outcome: { is: 'not_once', occurrences, currentVersion },
})

export const restored = (
  at: number,
  expectedVersion: number,
  version: number,
  payload: string,
): Restore => ({
  ...span(at),
  kind: 'restore',
  expectedVersion,
  version,
  outcome: { is: 'saved', version: expectedVersion + 1, payload },
})

export const lost = <T extends Exclude<Operation, Read>>(operation: T): T => ({
  ...operation,
  completedAt: Infinity,
  outcome: { is: 'unknown' },
})

export const nothing = (at: number): Read => read(at, 0, '')

export const conflictAfter = (
  at: number,
  expectedVersion: number,
  deletedVersion: number,
): Write => ({
  ...conflict(at, expectedVersion, 0),
  outcome: { is: 'conflict', currentVersion: 0, deletedVersion },
})

/** From k. */
export const renamed = (
  at: number,
  to: string,
  expectedVersion: number,
  version: number,
  payload: string,
): Rename => ({
  ...span(at),
  kind: 'rename',
  to,
  expectedVersion,
  outcome: { is: 'saved', version, payload },
})
