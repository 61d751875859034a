/** Homes in which something happened that was not seen yet. */
import { type Ask, statement } from './engine/connections.ts'

const changed = statement<{ agent_id: string }>(
  'changed_homes',
  `SELECT s.agent_id FROM unnest($1::TEXT[], $2::BIGINT[]) AS s (agent_id, last_event)
   LEFT JOIN homes h ON h.agent_id = s.agent_id
   WHERE h.last_event IS DISTINCT FROM s.last_event`,
)

export const newsVerbs = (read: Ask) => ({
  async changedHomes(seen: ReadonlyMap<string, number>): Promise<string[]> {
    const found = await read(changed, [...seen.keys()], [...seen.values()])
    return found.map(({ agent_id }) => agent_id)
  },
})
