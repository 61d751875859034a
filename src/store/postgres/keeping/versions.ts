/** Reads of retained versions. */
import { type Identity, reaches } from '../../port/home.ts'
import type { VersionAnswer, VersionsAnswer } from '../../port/keeping/memories.ts'
import { saltIn, type VersionRow, versionPage } from '../../rows.ts'
import type { PlacedVersionRow, VersionStatements } from '../../verbs/states-before.ts'
import { type Connections, statement } from '../engine/connections.ts'
import { type AdmittedRow, refusedBy } from '../identities.ts'
import { broughtAsItWas } from './brought.ts'
import { boundOf, chainOf, rowAt } from './log.ts'

/** A version and where it is, for verbs of both engines. */
const placed = statement<PlacedVersionRow>(`
  SELECT n, version, previous, operation, created_at, updated_at, n AS place,
    coalesce(event, operation) AS event, ${broughtAsItWas('log')} AS brought
  FROM log WHERE agent_id = $1 AND n = $2 AND kept`)

/** An event's number is its row's. */
export const versionStatements: VersionStatements = { at: placed, madeBy: placed }

interface Nothing {
  version: null
}

type Latest = AdmittedRow & {
  /** Null if the key was never used. */
  latest: number | null
  deleted: boolean | null
}

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

type ReadRow = Latest & (TextRow | Nothing)

/** The version, unless `$5` newer ones exist. */
const readVersion = statement<ReadRow>(`
  WITH RECURSIVE ${chainOf('m.key = $3', '$5')}
  SELECT c.kind, c.status AS credential_status, m.version AS latest, m.deleted,
    v.memory_id AS id, coalesce(v.made_as, v.key) AS key, v.version, v.created_at, v.updated_at,
    v.text, v.metadata, v.salt
  FROM credentials c
  LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3
  LEFT JOIN log v ON v.agent_id = m.agent_id
    AND v.n = (SELECT n FROM chain WHERE version = $4)
  WHERE c.agent_id = $1 AND c.token_hash = $2`)

type ListedRow = Omit<VersionRow, 'n' | 'previous' | 'salt'> & { key: string }

const listVersions = statement<Latest & (ListedRow | Nothing)>(`
  WITH RECURSIVE ${chainOf('m.key = $3', '$4')}
  SELECT c.kind, c.status AS credential_status, m.version AS latest, m.deleted,
    coalesce(v.made_as, v.key) AS key, v.version, v.operation, v.author, v.memory_id AS id,
    v.created_at, v.updated_at, v.bytes, v.size
  FROM credentials c
  LEFT JOIN memories m ON m.agent_id = c.agent_id AND m.key = $3
  LEFT JOIN LATERAL (
    SELECT l.* FROM (
      SELECT n FROM chain WHERE $5::BIGINT IS NULL OR version < $5::BIGINT ORDER BY nth LIMIT $6
    ) AS kept CROSS JOIN ${rowAt('$1', 'kept.n')} AS l
  ) AS v ON true
  WHERE c.agent_id = $1 AND c.token_hash = $2
  ORDER BY v.version DESC`)

function answerOf(identity: Identity, row: ReadRow, key: string, version: number): VersionAnswer {
  if (row.latest === null) return { outcome: 'missing' }
  if (row.version === null || !reaches(identity, row.key))
    return { outcome: version <= row.latest ? 'gone' : 'no_version' }
  const { id, text, metadata, created_at: createdAt, updated_at: updatedAt } = row
  if (text === null || metadata === null) return { outcome: 'no_version' }
  const memory = { id, key, text, metadata, version, createdAt, updatedAt }
  const currentVersion = row.deleted ? 0 : row.latest
  return { outcome: 'found', memory, currentVersion, salt: saltIn(row.salt) }
}

/** `most`: versions retained of a memory. */
export const versionVerbs = ({ read }: Connections, most: number) => ({
  async readVersion(identity: Identity, key: string, version: number): Promise<VersionAnswer> {
    const { agentId, tokenHash } = identity
    const [row] = await read(readVersion, agentId, tokenHash, key, version, boundOf(most))
    return refusedBy(row) ?? answerOf(identity, row as ReadRow, key, version)
  },
  async listVersions(
    identity: Identity,
    key: string,
    before: number | undefined,
    limit: number,
  ): Promise<VersionsAnswer> {
    const { agentId, tokenHash } = identity
    const values = [key, boundOf(most), before ?? null, limit + 1]
    const rows = await read(listVersions, agentId, tokenHash, ...values)
    const refused = refusedBy(rows[0])
    if (refused) return refused
    if (rows[0]?.latest === null) return { outcome: 'missing' }
    const found = rows.filter((row) => row.version !== null)
    return { outcome: 'versions', ...versionPage(identity, found, limit) }
  },
})
