/** Erased rows are deleted and vacuumed from the table's files before the response. */
import { authorOf } from '../../answers.ts'
import { type Erased, type Link, numbersOf, planErasure } from '../../erasure.ts'
import type { Identity } from '../../port/home.ts'
import type { EraseAnswer, Erasure } from '../../port/keeping/memories.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { run } from '../engine/run.ts'
import { eventOf, type HeadRow, headOf, remainsOf, saveHeads, saveLog } from './effects.ts'
import { type HomeRow, holdHome, saveHome } from './homes.ts'
import { chainOf, GIVEN_UP, isAmong } from './log.ts'

const selectHead = statement<HeadRow>(`
  SELECT key, id, version, created_at, updated_at, deleted, size, pinned, protected, n
  FROM memories WHERE agent_id = $1 AND key = $2`)

const versionsUnder = statement<Link>(`
  WITH RECURSIVE ${chainOf('m.key = $2', 'NULL')}
  SELECT n, previous, version, size FROM chain ORDER BY nth`)

/** Rows of retained events stay, without the text. */
const giveUp = statement(`
  WITH held AS (SELECT first_event FROM homes WHERE agent_id = $1),
  aged AS (SELECT n FROM unnest($2::BIGINT[]) AS t (n)),
  ${GIVEN_UP} SELECT count(*) FROM freed`)

const relink = statement(`
  UPDATE log l SET previous = t.previous
  FROM unnest($2::BIGINT[], $3::BIGINT[]) AS t (n, previous)
  WHERE l.agent_id = $1 AND ${isAmong('SELECT unnest($2::BIGINT[])')} AND l.n = t.n`)

async function remove(ask: Ask, agentId: string, { gone, relinked }: Erased<Link>): Promise<void> {
  const places = gone.map(({ n }) => n)
  await ask(giveUp, agentId, places)
  const from = relinked.map(({ n }) => n)
  const to = relinked.map(({ previous }) => previous)
  await ask(relink, agentId, from, to)
}

const countErasure = statement('UPDATE homes SET erasures = erasures + 1 WHERE agent_id = $1')

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
  const links = await ask(versionsUnder, agentId, key)
  const erased = planErasure(erasure, headOf(head), links, home, now)
  if (erased === 'current') return { outcome: 'current' }
  const { gone, left, ledger, made: version = null } = erased
  await remove(ask, agentId, erased)
  if (gone.length > 0) await ask(countErasure, agentId)
  if (left) {
    await saveHeads(ask, [agentId], [remainsOf(head, left, null)])
    await run(ask, vectorFates.dropVector(agentId, key))
  }
  const event = eventOf(home, 'erase', { key, version }, { by: authorOf(identity), now })
  await saveHome(ask, agentId, { ...ledger, ...event.head }, now, 0)
  await saveLog(ask, [agentId], [event.row])
  return { outcome: 'erased', versions: numbersOf(gone) }
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
    // Without the right or the time to vacuum, autovacuum does it later.
    await alone('VACUUM log, vectors').catch(() => {})
    return answer
  }
}
