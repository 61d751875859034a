/**
 * What `agent-home sync` keeps of a directory: for each file the text that it last had in common
 * with its memory. In a database file, for its transactions, and for its lock, which is released
 * however the process ends.
 */
import { DatabaseSync } from 'node:sqlite'
import type { Common, Piece } from './plan.ts'

export interface Kept extends Common {
  readonly key: string
}

/** `undefined`: the key is forgotten. */
export type Change = Kept | { readonly key: string; readonly gone: true }

export interface FolderState {
  readonly load: () => Kept[]
  /** All of it or nothing, and durable when it returns. */
  readonly record: (changes: readonly Change[]) => void
  readonly note: (name: string) => string | undefined
  readonly setNote: (name: string, value: string) => void
  readonly close: () => void
}

export class FolderStateError extends Error {
  /** `held`: another process has it. `unreadable`: not written by us, or by a later program. */
  readonly why: 'held' | 'unreadable' | 'unwritable'
  constructor(why: FolderStateError['why'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.why = why
  }
}

const FORMAT = 1

const SCHEMA = `
CREATE TABLE IF NOT EXISTS files (
  key TEXT PRIMARY KEY, path TEXT NOT NULL, version INTEGER NOT NULL, text TEXT,
  besideVersion INTEGER, besideText TEXT, sentText TEXT, sentFrom TEXT, received TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS pieces (key TEXT PRIMARY KEY, list TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA user_version = ${FORMAT};
`

/** SQLite's result codes: busy, and what is not a database. */
const BUSY = 5
const FOREIGN = [11, 26]

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 0 })
  try {
    // Erased texts leave nothing behind. The lock is taken now and kept.
    db.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; PRAGMA synchronous = EXTRA',
    )
    db.exec('BEGIN EXCLUSIVE')
    const { user_version: format } = db.prepare('PRAGMA user_version').get() as {
      user_version: number
    }
    if (format > FORMAT) throw new FolderStateError('unreadable', `it has format ${format}`)
    db.exec(`${SCHEMA} COMMIT`)
    return db
  } catch (cause) {
    db.close()
    throw explained(cause)
  }
}

function explained(cause: unknown): unknown {
  const { errcode, message } = cause as Error & { errcode?: number }
  if (errcode === undefined) return cause
  const code = errcode % 256
  const why = code === BUSY ? 'held' : FOREIGN.includes(code) ? 'unreadable' : 'unwritable'
  return new FolderStateError(why, message, { cause })
}

interface Row {
  readonly key: string
  readonly path: string
  readonly version: number
  readonly text: string | null
  readonly besideVersion: number | null
  readonly besideText: string | null
  readonly sentText: string | null
  readonly sentFrom: string | null
  readonly received: string | null
  /** JSON. */
  readonly pieces: string | null
}

/** A version before this one knows no pieces, and leaves them as they were: they are another text's. */
function piecesIn({ version, text, pieces }: Row): readonly Piece[] | undefined {
  const list = JSON.parse(pieces ?? '[]') as Piece[]
  const length = list.reduce((sum, each) => sum + each.length, 0)
  return length === text?.length && list[0]?.version === version ? list : undefined
}

const keptIn = (row: Row): Kept => {
  const { key, path, version, text, besideVersion, besideText, sentText, sentFrom, received } = row
  const pieces = piecesIn(row)
  return {
    key,
    path,
    version,
    text: text ?? undefined,
    ...(pieces && { pieces }),
    ...(received !== null && { received }),
    ...(sentText !== null && { sent: { text: sentText, from: sentFrom ?? '' } }),
    ...(besideVersion !== null && { beside: { version: besideVersion, text: besideText ?? '' } }),
  }
}

const ALL = 'SELECT files.*, list AS pieces FROM files LEFT JOIN pieces USING (key)'

/** Throws FolderStateError, as all that writes. */
export function openFolderState(path: string): FolderState {
  const db = open(path)
  const put = db.prepare('INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
  const drop = db.prepare('DELETE FROM files WHERE key = ?')
  const putPieces = db.prepare('INSERT OR REPLACE INTO pieces VALUES (?, ?)')
  const dropPieces = db.prepare('DELETE FROM pieces WHERE key = ?')
  const get = db.prepare('SELECT value FROM notes WHERE name = ?')
  const set = db.prepare('INSERT OR REPLACE INTO notes VALUES (?, ?)')

  function change(each: Change): void {
    if ('gone' in each) {
      drop.run(each.key)
      dropPieces.run(each.key)
      return
    }
    const { key, path, version, text, beside, sent, received, pieces } = each
    if (pieces) putPieces.run(key, JSON.stringify(pieces))
    else dropPieces.run(key)
    put.run(
      ...[key, path, version, text ?? null, beside?.version ?? null, beside?.text ?? null],
      ...[sent?.text ?? null, sent?.from ?? null, received ?? null],
    )
  }

  return {
    load: () => (db.prepare(ALL).all() as unknown as Row[]).map(keptIn),
    record(changes) {
      if (changes.length === 0) return
      db.exec('BEGIN')
      try {
        for (const each of changes) change(each)
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw explained(error)
      }
    },
    note: (name) => (get.get(name) as { value: string } | undefined)?.value,
    setNote: (name, value) => void set.run(name, value),
    close: () => db.close(),
  }
}
