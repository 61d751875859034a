/** The retained versions of a home for an export that were made under a prefix, by key, oldest first. */
import type { KeptVersion } from '../../port/transfer.ts'
import { endOf, type KeptRow, keptVersionOf } from '../../rows.ts'
import { statement } from '../engine/connections.ts'
import type { Ask } from '../engine/session.ts'
import { boundOf, chainOf, rowAt } from '../memories/log.ts'

/** The agent and the range of keys. */
export interface Wanted {
  readonly agentId: string
  readonly prefix: string
  /** Retained versions of a memory; undefined if the history was not requested. */
  readonly versions: number | undefined
}

/** At 20 KB each, a page is at most 160 KB. */
const PAGE = 8

const keysAfter = statement<{ key: string }>(`
  SELECT key FROM memories
  WHERE agent_id = $1 AND key > $2 AND key >= $3 AND key < $4 AND n IS NOT NULL
  ORDER BY key LIMIT ${PAGE}`)

interface Place {
  key: string
  n: number
}

const placesOf = statement<Place>(`
  WITH RECURSIVE ${chainOf('m.key = ANY($2::TEXT[])', '$3')}
  SELECT under AS key, n FROM chain ORDER BY under, nth DESC`)

/** The current version of a live memory is in the list of memories. */
const readVersions = statement<KeptRow>(`
  SELECT q.key, coalesce(v.made_as, v.key) AS made_as, v.memory_id AS id, v.version, v.operation, v.author, v.created_at, v.updated_at, v.metadata,
    v.salt, CASE WHEN v.n <> m.n OR m.deleted THEN v.text END AS text
  FROM unnest($2::TEXT[], $3::BIGINT[]) WITH ORDINALITY AS q (key, n, place)
  CROSS JOIN ${rowAt('$1', 'q.n')} AS v
  CROSS JOIN LATERAL (
    SELECT n, deleted FROM memories WHERE agent_id = $1 AND key = q.key OFFSET 0
  ) AS m
  WHERE coalesce(v.made_as, v.key) >= $4 AND coalesce(v.made_as, v.key) < $5
  ORDER BY q.place`)

async function* keyPages(ask: Ask, { agentId, prefix }: Wanted): AsyncGenerator<string[]> {
  for (let last = ''; ; ) {
    const rows = await ask(keysAfter, agentId, last, prefix, endOf(prefix))
    if (rows.length > 0) yield rows.map(({ key }) => key)
    if (rows.length < PAGE) return
    last = rows.at(-1)?.key ?? last
  }
}

export async function* versionPages(
  ask: Ask,
  wanted: Wanted,
): AsyncGenerator<readonly KeptVersion[]> {
  const { agentId, prefix, versions = 0 } = wanted
  for await (const keys of keyPages(ask, wanted)) {
    const places = await ask(placesOf, agentId, keys, boundOf(versions))
    for (let at = 0; at < places.length; at += PAGE) {
      const page = places.slice(at, at + PAGE)
      const named = [page.map(({ key }) => key), page.map(({ n }) => n), prefix, endOf(prefix)]
      yield (await ask(readVersions, agentId, ...named)).map(keptVersionOf)
    }
  }
}
