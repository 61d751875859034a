/** The keys of a home as a tree, whose branches are parted by dots. */
import type { Identity } from '../port/identity.ts'
import type { Branch, BranchesAnswer, BranchesQuery } from '../port/memories.ts'
import { endOf } from '../rows.ts'
import { refuse } from './controls.ts'
import { ask, statement, type Verb } from './verb.ts'

/** What a key may have but the dot: trimmed off, the dot and what follows it remain. */
const NAMES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'

const branches = statement<Branch>(`
  SELECT prefix, count(*) AS memories FROM (
    SELECT substr(key, 1, length(key) - length(rest) + 1) AS prefix FROM (
      SELECT key, ltrim(substr(key, length($2) + 1), '${NAMES}') AS rest FROM memories
      WHERE agent_id = $1 AND key >= $2 AND key < $3 AND NOT deleted
    ) AS named WHERE rest <> ''
  ) AS parted
  GROUP BY prefix ORDER BY prefix LIMIT CAST($4 AS BIGINT)`)

export const branchReads = {
  *listBranches(identity: Identity, { prefix, limit }: BranchesQuery): Verb<BranchesAnswer> {
    const refused = yield* refuse(identity)
    if (refused) return refused
    const found = yield* ask(branches, identity.agentId, prefix, endOf(prefix), limit)
    return { outcome: 'branches', branches: found }
  },
}
