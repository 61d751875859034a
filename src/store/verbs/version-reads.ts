/** Reads of retained versions, and how many texts were erased. */
import { refusalOf } from '../answers.ts'
import { type AgentStatus, type Identity, reaches, type TokenKind } from '../port/identity.ts'
import type { VersionAnswer, VersionsAnswer } from '../port/memories.ts'
import type { ErasuresAnswer } from '../port/transfer.ts'
import { saltIn, type VersionRow, versionPage } from '../rows.ts'
import { ask, type Statement, statement, type Verb } from './verb.ts'

interface AdmittedRow {
  kind: TokenKind | null
  status: AgentStatus | null
}

/** A memory, if the key was ever used. */
type Latest = AdmittedRow & { latest: number | null; deleted: boolean | number | null }

interface TextRow {
  id: string
  /** That it was made under. */
  key: string
  version: number
  created_at: number
  updated_at: number
  /** Null of a deletion. */
  text: string | null
  metadata: string | null
  salt: Uint8Array | null
}

type ListedRow = Omit<VersionRow, 'n' | 'previous' | 'salt'> & { key: string }

interface Nothing {
  version: null
}

type ReadRow = Latest & (TextRow | Nothing)

export interface VersionReads {
  /** The version $4 of the key $3, among the newest $5 (null: all). */
  readonly one: Statement<ReadRow>
  /** Those of the key $3 below $5 (null: all) among the newest $4, at most $6, the newest first. */
  readonly page: Statement<Latest & (ListedRow | Nothing)>
}

const ADMITTED = `FROM credentials c
  LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3`

const WHOSE = 'WHERE c.agent_id = $1 AND c.token_hash = $2'

/** How an engine finds versions. */
interface Finding {
  /**
   * For WITH RECURSIVE: `chain` has `n`, `version` and `nth` of the newest versions of the key $3,
   * `most` of them at most (null: all), and goes no further back than to `last`.
   */
  readonly chain: (most: string, last?: string) => string
  /** The rows of the log whose numbers `n` are in this list. */
  readonly rowsIn: (list: string) => string
}

export const versionReads = ({ chain, rowsIn }: Finding): VersionReads => ({
  one: statement(`
  WITH RECURSIVE ${chain('$5', '$4')}, shown AS (SELECT n FROM chain WHERE version = $4)
  SELECT c.kind, c.status, m.version AS latest, m.deleted,
    v.memory_id AS id, coalesce(v.made_as, v.key) AS key, v.version, v.created_at, v.updated_at,
    v.text, v.metadata, v.salt
  ${ADMITTED} LEFT JOIN (${rowsIn('shown')}) v ON 1 = 1 ${WHOSE}`),
  page: statement(`
  WITH RECURSIVE ${chain('$4')}, shown AS (
    SELECT n FROM chain WHERE CAST($5 AS BIGINT) IS NULL OR version < CAST($5 AS BIGINT)
    ORDER BY nth LIMIT CAST($6 AS BIGINT)
  )
  SELECT c.kind, c.status, m.version AS latest, m.deleted,
    coalesce(v.made_as, v.key) AS key, v.version, v.operation, v.author, v.memory_id AS id,
    v.created_at, v.updated_at, v.bytes, v.size
  ${ADMITTED} LEFT JOIN (${rowsIn('shown')}) v ON 1 = 1 ${WHOSE}
  ORDER BY v.version DESC`),
})

const erasuresOf = statement<AdmittedRow & { erasures: number; lastEvent: number }>(`
  SELECT c.kind, c.status, h.erasures, h.last_event AS "lastEvent"
  FROM credentials c JOIN homes h ON h.agent_id = c.agent_id ${WHOSE}`)

const refusedBy = (row: AdmittedRow | undefined) => refusalOf(row?.kind, row?.status)

function answerOf(identity: Identity, row: ReadRow, key: string, version: number): VersionAnswer {
  if (row.latest === null) return { outcome: 'missing' }
  if (row.version === null || !reaches(identity, row.key)) {
    return { outcome: version <= row.latest ? 'gone' : 'no_version' }
  }
  const { id, text, metadata, created_at: createdAt, updated_at: updatedAt } = row
  if (text === null || metadata === null) return { outcome: 'no_version' }
  const memory = { id, key, text, metadata, version, createdAt, updatedAt }
  const currentVersion = row.deleted ? 0 : row.latest
  return { outcome: 'found', memory, currentVersion, salt: saltIn(row.salt) }
}

/** `most`: versions retained of a memory; 0: all. */
export const readsOfVersions = ({ one, page }: VersionReads, most: number) => ({
  *readVersion(identity: Identity, key: string, version: number): Verb<VersionAnswer> {
    const { agentId, tokenHash } = identity
    const [row] = yield* ask(one, agentId, tokenHash, key, version, most || null)
    return refusedBy(row) ?? answerOf(identity, row as ReadRow, key, version)
  },

  *listVersions(
    identity: Identity,
    key: string,
    before: number | undefined,
    limit: number,
  ): Verb<VersionsAnswer> {
    const { agentId, tokenHash } = identity
    // The first page needs no more of the chain than it shows.
    const needed = before === undefined ? Math.min(most || limit + 1, limit + 1) : most || null
    const rows = yield* ask(page, agentId, tokenHash, key, needed, before, limit + 1)
    const refused = refusedBy(rows[0])
    if (refused) return refused
    if (rows[0]?.latest === null) return { outcome: 'missing' }
    const found = rows.filter((row) => row.version !== null)
    return { outcome: 'versions', ...versionPage(identity, found, limit) }
  },
})

export const erasureReads = {
  *countErasures({ agentId, tokenHash }: Identity): Verb<ErasuresAnswer> {
    const [row] = yield* ask(erasuresOf, agentId, tokenHash)
    const refused = refusedBy(row)
    if (!row || refused) return refused ?? { outcome: 'revoked' }
    const { erasures, lastEvent } = row
    return { outcome: 'erasures', erasures, lastEvent }
  },
}
