/** What is erased is deleted, and vacuumed out of the table's files before that is answered. */
import { authorOf } from '../../answers.ts'
import type { Identity } from '../../port/home.ts'
import type { EraseAnswer, Erasure } from '../../port/keeping/memories.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { eventOf, type HeadRow, saveHeads, saveLog } from './effects.ts'
import { type HomeRow, holdHome, saveHome } from './homes.ts'
import { chainOf, GIVEN_UP } from './log.ts'

const selectHead = statement<HeadRow>(
  'head_to_erase',
  `SELECT key, id, version, created_at, updated_at, deleted, size, pinned, n
   FROM memories WHERE agent_id = $1 AND key = $2`,
)

interface Link {
  n: number
  previous: number | null
  version: number
  size: number
}

const versionsUnder = statement<Link>(
  'versions_under',
  `WITH RECURSIVE ${chainOf('m.key = $2', 'NULL')}
   SELECT n, previous, version, size FROM chain ORDER BY nth`,
)

/** What is an event still stays without its text. */
const giveUp = statement(
  'give_up',
  `WITH held AS (SELECT first_event FROM homes WHERE agent_id = $1),
   aged AS (SELECT n FROM unnest($2::BIGINT[]) AS t (n)),
   ${GIVEN_UP} SELECT count(*) FROM freed`,
)

const relink = statement(
  'relink',
  `UPDATE log l SET previous = t.previous FROM unnest($2::BIGINT[], $3::BIGINT[]) AS t (n, previous)
   WHERE l.agent_id = $1 AND l.n = t.n`,
)

/** Those that stay name each other. */
async function remove(
  ask: Ask,
  agentId: string,
  links: readonly Link[],
  gone: ReadonlySet<Link>,
): Promise<void> {
  await ask(
    giveUp,
    agentId,
    [...gone].map(({ n }) => n),
  )
  const stay = links.filter((link) => !gone.has(link))
  const next = new Map(stay.map(({ n }, at) => [n, stay[at + 1]?.n ?? null]))
  const moved = stay.filter(({ n, previous }) => previous !== next.get(n))
  await ask(
    relink,
    agentId,
    moved.map(({ n }) => n),
    moved.map(({ n }) => next.get(n)),
  )
}

const isErased = (erasure: Erasure, { n, version }: Link, head: HeadRow): boolean => {
  if (erasure === 'all') return true
  return n !== head.n && (erasure === 'history' || erasure.includes(version))
}

/** What is left where all is gone: a living one gets a version more, as by a delete. */
const remainsOf = (head: HeadRow, now: number): HeadRow => ({
  ...head,
  version: head.version + (head.deleted ? 0 : 1),
  updated_at: head.deleted ? head.updated_at : Math.max(now, head.updated_at),
  deleted: true,
  size: 0,
  pinned: false,
  n: null,
})

const isCurrent = (erasure: Erasure, head: HeadRow): boolean =>
  typeof erasure !== 'string' && !head.deleted && erasure.includes(head.version)

function homeWithout(home: HomeRow, gone: readonly Link[], current: HeadRow | undefined): HomeRow {
  const size = gone.reduce((sum, row) => sum + row.size, 0)
  const living = current?.deleted === false ? current : undefined
  return {
    ...home,
    memories: home.memories - (living ? 1 : 0),
    deleted: home.deleted + (living ? 1 : 0),
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
  const links = await ask(versionsUnder, agentId, key)
  const gone = links.filter((link) => isErased(erasure, link, head))
  await remove(ask, agentId, links, new Set(gone))
  const after = all ? remainsOf(head, now) : head
  if (all) await saveHeads(ask, [agentId], [after])
  const next = homeWithout(home, gone, all ? head : undefined)
  await saveHome(ask, agentId, next, now, 0)
  const done = { author: JSON.stringify(authorOf(identity)), now }
  const version = after.version === head.version ? null : after.version
  await saveLog(ask, [agentId], [eventOf(next.last_event, 'erase', { key, version }, done)])
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
      const held = await holdHome(ask, identity)
      if (held.outcome !== 'held') return held
      return erase(ask, held.home, { identity, key, erasure, now })
    })
    if (answer.outcome !== 'erased') return answer
    committed()
    // Without the right to it, or the time, the server does it when it comes round.
    await alone('VACUUM log').catch(() => {})
    return answer
  }
}
