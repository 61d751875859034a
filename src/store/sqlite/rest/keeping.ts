/**
 * Invariants between memories, versions, log and counters. CROSS JOIN reads the log once in order,
 * since it has no index by home.
 */
import { fields } from '../../../fields.ts'
import { beneath } from '../keeping/log.ts'
import type { Promised } from './promises.ts'

/** Staged rows of an unfinished import belong to no memory yet. */
const isTaken = (l: string): string =>
  `${l}.id >= (SELECT imports FROM homes WHERE agent_id = ${l}.agent_id) * ${beneath({ imports: 1 })}`

const VERSIONS = `log v WHERE operation IS NOT NULL AND ${isTaken('v')}`

const memory = "m.agent_id || ' ' || m.key"

const row = "l.agent_id || ' ' || coalesce(l.key, '') || ' n=' || l.n"

export const ofMemories: readonly Promised[] = [
  {
    fault: 'a memory does not agree with its newest version',
    wrong: `SELECT ${memory} FROM memories m LEFT JOIN log l ON l.n = m.n
      WHERE m.deleted = 0 AND (
        l.n IS NULL OR l.operation IS NULL OR l.operation = 'delete' OR l.text IS NULL
        OR (l.agent_id, l.key, l.memory_id, l.version, l.created_at, l.updated_at, l.size)
          IS NOT (m.agent_id, m.key, m.id, m.version, m.created_at, m.updated_at, m.size))`,
  },
  {
    fault: 'what is left of a deleted memory does not agree with the log',
    wrong: `SELECT ${memory} FROM memories m LEFT JOIN log l ON l.n = m.n
      WHERE m.deleted <> 0 AND (
        m.deleted <> 1 OR m.size <> 0 OR m.pinned <> 0 OR m.protected <> 0
        OR (m.n IS NULL AND m.kept <> 0)
        OR (m.n IS NOT NULL AND l.operation IS NOT NULL AND (
          l.operation <> 'delete'
          OR (l.agent_id, l.key, l.version) IS NOT (m.agent_id, m.key, m.version))))`,
  },
  {
    fault: 'a memory is pinned and does not say so, or says so and is not',
    wrong: `SELECT ${memory} FROM memories m JOIN log l ON l.n = m.n
      WHERE m.deleted = 0
        AND m.pinned IS NOT coalesce(json_type(l.metadata, '$.pinned') = 'true', 0)`,
  },
  {
    fault: 'a key is none that can be written',
    wrong: `SELECT ${memory} FROM memories m
      WHERE length(key) NOT BETWEEN 1 AND 100 OR key GLOB '*[^a-zA-Z0-9_.-]*'`,
  },
  {
    fault: 'a memory has a version below 1',
    wrong: `SELECT ${memory} FROM memories m WHERE version < 1 OR kept < 0`,
  },
  {
    fault: 'more versions follow on each other than a memory has',
    wrong: `SELECT ${memory} FROM memories m WHERE run NOT BETWEEN 0 AND version - 1`,
  },
]

export const ofVersions: readonly Promised[] = [
  {
    fault: 'a version’s sizes differ from what it holds',
    wrong: `SELECT ${row} FROM log l WHERE operation IS NOT NULL AND (
        bytes IS NOT coalesce(octet_length(text), 0)
        OR size IS NOT bytes + coalesce(octet_length(metadata), 0))`,
  },
  {
    fault: 'a version’s text or metadata are none that could be written',
    wrong: `SELECT ${row} FROM log l WHERE operation IS NOT NULL AND CASE
        WHEN operation = 'delete' THEN text IS NOT NULL OR metadata IS NOT NULL
        WHEN text IS NULL OR metadata IS NULL THEN 1
        WHEN NOT json_valid(metadata) THEN 1
        ELSE json_type(metadata) <> 'object'
          OR octet_length(text) NOT BETWEEN 1 AND ${fields.text.maxBytes}
          OR octet_length(metadata) > ${fields.metadata.maxBytes} END`,
  },
  {
    fault: 'a version does not follow on the one before it',
    wrong: `SELECT ${row} FROM log l JOIN log p ON p.n = l.previous
      WHERE l.operation IS NOT NULL AND p.operation IS NOT NULL
        AND (p.agent_id <> l.agent_id OR p.version >= l.version
          OR (l.event IS NOT NULL AND (p.n >= l.n OR p.id >= l.id)))`,
  },
  {
    fault: 'a version is left out, and nothing in the log tells why',
    wrong: `WITH erasures AS MATERIALIZED (
        SELECT agent_id, max(id) AS last FROM log WHERE event = 'erase' GROUP BY agent_id
      )
      SELECT ${row} FROM log l CROSS JOIN log p ON p.n = l.previous
        CROSS JOIN homes h ON h.agent_id = l.agent_id
      WHERE l.operation NOT IN ('rename', 'import') AND p.operation IS NOT NULL
        AND l.event IS NOT NULL AND l.version <> p.version + 1 AND l.id >= h.first_event
        AND l.id >= coalesce((SELECT last FROM erasures e WHERE e.agent_id = l.agent_id), 0)`,
  },
  {
    fault: 'a version belongs to no memory',
    wrong: `SELECT ${row} FROM log l
      WHERE l.operation IS NOT NULL AND ${isTaken('l')}
        AND NOT EXISTS (
          SELECT 1 FROM memories m WHERE m.agent_id = l.agent_id AND m.key = l.key AND m.n = l.n)
        AND l.n NOT IN (
          SELECT previous FROM ${VERSIONS} AND previous IS NOT NULL)`,
  },
]

const TAILS = `WITH RECURSIVE tails (n) AS (
    SELECT tail FROM homes WHERE tail IS NOT NULL
    UNION ALL
    SELECT l.before FROM tails t JOIN log l ON l.n = t.n WHERE l.before IS NOT NULL
  )`

/** Nor do rows that are being erased. */
const isNobodys = `agent_id NOT IN (SELECT agent_id FROM agents UNION ALL SELECT agent_id FROM erased_agents)`

export const ofLog: readonly Promised[] = [
  {
    fault: 'the log tells of an agent that is not there',
    wrong: `SELECT ${row} FROM log l WHERE ${isNobodys}
      UNION ALL SELECT agent_id FROM log_index WHERE ${isNobodys}`,
  },
  {
    fault: 'events of a home are missing, doubled or beyond its last',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT l.agent_id, count(*) AS events, count(DISTINCT l.id) AS ids, max(l.id) AS last
        FROM log l CROSS JOIN homes o ON o.agent_id = l.agent_id
        WHERE l.event IS NOT NULL AND l.id >= o.first_event GROUP BY l.agent_id
      ) e ON e.agent_id = h.agent_id
      WHERE coalesce(e.events, 0) <> h.last_event - h.first_event + 1
        OR coalesce(e.ids, 0) <> coalesce(e.events, 0)
        OR (e.last IS NOT NULL AND e.last <> h.last_event)`,
  },
  {
    fault: 'events of a home are not in the order of their numbers',
    wrong: `SELECT agent_id || ' ' || id FROM (
        SELECT agent_id, id, lag(id) OVER (PARTITION BY agent_id ORDER BY n) AS before
        FROM log WHERE event IS NOT NULL
      ) WHERE before >= id`,
  },
  {
    fault: 'a row of the log can be found by nobody',
    wrong: `${TAILS} SELECT ${row} FROM log l
      WHERE NOT EXISTS (
          SELECT 1 FROM log_index i WHERE i.agent_id = l.agent_id AND i.id = l.id AND i.n = l.n)
        AND l.n NOT IN tails`,
  },
  {
    fault: 'the log’s index names a row that is not there',
    wrong: `SELECT i.agent_id || ' n=' || i.n FROM log_index i LEFT JOIN log l ON l.n = i.n
      WHERE (l.agent_id, l.id) IS NOT (i.agent_id, i.id)`,
  },
]

export const ofVectors: readonly Promised[] = [
  {
    fault: 'a vector is of no current text, or is none',
    wrong: `SELECT v.agent_id || ' ' || v.key FROM vectors v
      LEFT JOIN memories m ON m.agent_id = v.agent_id AND m.key = v.key AND m.deleted = 0
      WHERE v.version IS NOT m.version OR length(v.vector) NOT BETWEEN 1 AND ${4 * fields.vector.maxNumbers}
        OR length(v.vector) % 4 <> 0`,
  },
]

export const ofHomes: readonly Promised[] = [
  {
    fault: 'a home’s counts of memories differ from what is there',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, sum(deleted = 0) AS living, sum(deleted = 1) AS deleted,
          sum(CASE deleted WHEN 0 THEN size END) AS bytes FROM memories GROUP BY agent_id
      ) m ON m.agent_id = h.agent_id
      WHERE (h.memories, h.deleted, h.bytes)
        IS NOT (coalesce(m.living, 0), coalesce(m.deleted, 0), coalesce(m.bytes, 0))`,
  },
  {
    fault: 'a home’s bytes of earlier versions differ from what is kept of them',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, sum(size) AS size FROM ${VERSIONS} GROUP BY agent_id
      ) v ON v.agent_id = h.agent_id
      WHERE h.bytes + h.history <> coalesce(v.size, 0)`,
  },
  {
    fault: 'a home’s count of vectors differs from what is there',
    wrong: `SELECT h.agent_id FROM homes h LEFT JOIN (
        SELECT agent_id, sum(length(vector)) AS bytes, max(n) AS last FROM vectors GROUP BY agent_id
      ) v ON v.agent_id = h.agent_id
      WHERE h.vectors <> coalesce(v.bytes, 0) OR h.last_vector < coalesce(v.last, 0)`,
  },
]
