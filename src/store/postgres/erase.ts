/** What is erased is deleted, and vacuumed out of the table's files before that is answered. */
import { authorOf } from '../answers.ts'
import type { Identity } from '../port/home.ts'
import type { EraseAnswer, Erasure } from '../port/memories.ts'
import { dayOf } from '../port/sessions.ts'
import { type HeadRow, saveEvents, saveHeads } from './effects.ts'
import { type Ask, type Connections, statement } from './engine/connections.ts'
import { type HomeRow, lockHome, saveHome } from './homes.ts'
import { refusedBy } from './identities.ts'

const selectHead = statement<HeadRow>(
  'head_to_erase',
  `SELECT key, id, version, created_at, updated_at, deleted, size, pinned
   FROM memories WHERE agent_id = $1 AND key = $2`,
)

interface ErasedRow {
  version: number
  size: number
}

/** `$3`: which, or null for every one; `$4`: never this one. */
const dropVersions = statement<ErasedRow>(
  'erase_versions',
  `DELETE FROM versions WHERE agent_id = $1 AND key = $2
     AND ($3::BIGINT[] IS NULL OR version = ANY($3::BIGINT[]))
     AND ($4::BIGINT IS NULL OR version <> $4::BIGINT)
   RETURNING version, size`,
)

/** What is left where all is gone: a living one gets a version more, as by a delete. */
const remainsOf = (head: HeadRow, now: number): HeadRow => ({
  ...head,
  version: head.version + (head.deleted ? 0 : 1),
  updated_at: head.deleted ? head.updated_at : Math.max(now, head.updated_at),
  deleted: true,
  size: 0,
  pinned: false,
})

const isCurrent = (erasure: Erasure, head: HeadRow): boolean =>
  typeof erasure !== 'string' && !head.deleted && erasure.includes(head.version)

function homeWithout(
  home: HomeRow,
  gone: readonly ErasedRow[],
  current: HeadRow | undefined,
): HomeRow {
  const size = gone.reduce((sum, row) => sum + row.size, 0)
  const living = current?.deleted === false ? current : undefined
  return {
    memories: home.memories - (living ? 1 : 0),
    bytes: home.bytes - (living?.size ?? 0),
    history: home.history - (size - (living?.size ?? 0)),
    last_event: home.last_event + 1,
  }
}

interface Erasing {
  readonly identity: Identity
  readonly key: string
  readonly erasure: Erasure
  readonly now: number
}

async function erase(
  ask: Ask,
  home: HomeRow,
  { identity, key, erasure, now }: Erasing,
): Promise<EraseAnswer> {
  const { agentId } = identity
  const [head] = await ask(selectHead, agentId, key)
  if (!head) return { outcome: 'missing' }
  if (isCurrent(erasure, head)) return { outcome: 'current' }
  const all = erasure === 'all'
  const which = typeof erasure === 'string' ? null : erasure
  const gone = await ask(dropVersions, agentId, key, which, all ? null : head.version)
  const after = all ? remainsOf(head, now) : head
  if (all) await saveHeads(ask, [agentId], [after])
  const next = homeWithout(home, gone, all ? head : undefined)
  const { memories, bytes, history, last_event: event } = next
  await ask(saveHome, agentId, memories, bytes, history, event, dayOf(now), 0)
  const { version } = after
  const erased = { id: event, type: 'erase', key, renamed_from: null, version }
  await saveEvents(ask, [agentId, JSON.stringify(authorOf(identity)), now], [erased])
  return { outcome: 'erased', versions: gone.map((row) => row.version).sort((a, b) => a - b) }
}

export function eraseVerb({ transact, alone }: Connections, committed: () => void) {
  return async (
    identity: Identity,
    key: string,
    erasure: Erasure,
    now: number,
  ): Promise<EraseAnswer> => {
    const answer = await transact(async (ask): Promise<EraseAnswer> => {
      const [home] = await ask(lockHome, identity.agentId, identity.tokenHash)
      const refused = refusedBy(home)
      if (!home || refused) return refused ?? { outcome: 'revoked' }
      return erase(ask, home, { identity, key, erasure, now })
    })
    if (answer.outcome !== 'erased') return answer
    committed()
    // Without the right to it, or the time, the server does it when it comes round.
    await alone('VACUUM versions').catch(() => {})
    return answer
  }
}
