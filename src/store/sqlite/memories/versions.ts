/** Versions in the log. Each points to the previous version of its memory. */
import type { DatabaseSync } from 'node:sqlite'
import type { Content, Past } from '../../change.ts'
import type { VersionRow } from '../../rows.ts'
import type { VersionStatements } from '../../verbs/states-before.ts'
import { statement } from '../../verbs/verb.ts'
import type { LogStatements } from '../../verbs/verbs.ts'
import { versionReads } from '../../verbs/version-reads.ts'
import { prepare, prepareTuples } from '../engine/connection.ts'
import { eventStatements } from './event-reads.ts'
import { type Kept, TAIL_OF_HOME } from './log.ts'

/** A version and where it is, for verbs of both engines. */
const PLACED = `n, version, previous, operation, created_at, updated_at, id AS place, event,
  event_author IS NOT NULL AS brought`

const versions: VersionStatements = {
  at: statement(
    `SELECT ${PLACED} FROM log WHERE agent_id = $1 AND n = $2 AND operation IS NOT NULL`,
  ),
  madeBy: statement(`
  WITH RECURSIVE ${TAIL_OF_HOME}
    SELECT ${PLACED} FROM log WHERE operation IS NOT NULL AND n IN (
      SELECT n FROM log_index WHERE agent_id = $1 AND id = $2
      UNION ALL SELECT n FROM tail WHERE id = $2
    )`),
}

/** Of the key $3 of the agent $1, the newest first. */
const chain = (most: string, last?: string): string => `
  chain (n, version, previous, nth) AS (
    SELECT l.n, l.version, l.previous, 1 FROM memories m JOIN log l ON l.n = m.n
    WHERE m.agent_id = $1 AND m.key = $3 AND l.operation IS NOT NULL
    UNION ALL
    SELECT l.n, l.version, l.previous, c.nth + 1 FROM chain c JOIN log l ON l.n = c.previous
    WHERE l.operation IS NOT NULL AND (${most} IS NULL OR c.nth < ${most})
      ${last ? `AND c.version > ${last}` : ''}
  )`

/** What the verbs of both engines ask of this engine's log. */
export const logStatements: LogStatements = {
  events: eventStatements,
  versions,
  history: versionReads({
    chain,
    rowsIn: (list) => `SELECT l.* FROM ${list} s JOIN log l ON l.n = s.n`,
  }),
}

/** A version and its log row. `key`: that it was made under. */
export type KeptVersionRow = VersionRow & Kept & { readonly key: string }

/** The retained versions of a memory, newest first. */
export function prepareChain(db: DatabaseSync) {
  const version = prepare<KeptVersionRow>(
    db,
    `SELECT n, previous, coalesce(made_as, key) AS key, version, operation, author, memory_id AS id, created_at, updated_at,
       bytes, size, salt, event, id AS event_id
     FROM log WHERE n = ? AND operation IS NOT NULL`,
  )
  return function* chain(newest: number | null, most: number): Generator<KeptVersionRow> {
    let next = newest
    for (let met = 0; next !== null && (most === 0 || met < most); met++) {
      const row = version.get(next)
      if (!row) return
      yield row
      next = row.previous
    }
  }
}

export function prepareContent(db: DatabaseSync) {
  const content = prepare<Content>(
    db,
    'SELECT text, metadata FROM log WHERE n = ? AND text IS NOT NULL',
  )
  /** Undefined of a deletion. */
  return (n: number | null): Content | undefined => content.get(n)
}

type PastTuple = [
  id: string,
  key: string,
  createdAt: number,
  text: string | null,
  metadata: string | null,
]

/** The version ?2 of the memory whose newest version is in the row ?1, one of its newest ?3. */
const PAST = `
  WITH RECURSIVE walk (n, version, previous, nth) AS (
    SELECT n, version, previous, 1 FROM log WHERE n = ?1 AND operation IS NOT NULL
    UNION ALL
    SELECT l.n, l.version, l.previous, w.nth + 1 FROM walk w JOIN log l ON l.n = w.previous
    WHERE l.operation IS NOT NULL AND w.version > ?2 AND w.nth < ?3
  )
  SELECT l.memory_id, coalesce(l.made_as, l.key), l.created_at, l.text, l.metadata
  FROM walk w JOIN log l ON l.n = w.n WHERE w.version = ?2`

/** `most`: versions retained of a memory. */
export function preparePast(db: DatabaseSync, most: number) {
  const past = prepareTuples<PastTuple>(db, PAST)
  const bound = most || Number.MAX_SAFE_INTEGER
  /** Null of a deletion; undefined if not retained. */
  return (newest: number | null, version: number): Past | null | undefined => {
    const row = past.get(newest, version, bound)
    if (!row) return undefined
    const [id, key, createdAt, text, metadata] = row
    return text === null || metadata === null ? null : { text, metadata, id, key, createdAt }
  }
}
