/**
 * An import, in one transaction that holds the home. What turns out to be none is rolled back: to
 * read the source once is worth more than what a refused one costs.
 */
import { authorOf } from '../../answers.ts'
import { type Following, followImport, isKept } from '../../import-plan.ts'
import type { Identity } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportAnswer, ImportOrder, ImportSource } from '../../port/transfer.ts'
import { type Ask, type Connections, statement } from '../engine/connections.ts'
import { type HeadRow, headOf } from '../keeping/effects.ts'
import { type HomeRow, holdHome, saveHome } from '../keeping/homes.ts'
import { beneath, lowestPlace } from '../keeping/log.ts'
import { prune } from '../keeping/prune.ts'
import { gatherRows } from './import-rows.ts'

const selectHeads = statement<HeadRow>(
  'heads_to_import',
  `SELECT key, id, version, created_at, updated_at, deleted, size, pinned, n
   FROM memories WHERE agent_id = $1 AND key = ANY($2::TEXT[])`,
)

/** Thrown for the transaction to be rolled back. */
class Undone extends Error {
  readonly answer: ImportAnswer
  constructor(answer: ImportAnswer) {
    super('the import is not to be kept')
    this.answer = answer
  }
}

interface Importing {
  readonly ask: Ask
  readonly identity: Identity
  readonly home: HomeRow
  readonly order: ImportOrder
  readonly now: number
}

/** Reads the source to its end, and answers the last event. */
async function bring(
  { ask, identity, home, order, now }: Importing,
  source: ImportSource,
  following: Following,
): Promise<number> {
  const { agentId } = identity
  const author = JSON.stringify(authorOf(identity))
  const [lowest] = await ask(lowestPlace, agentId)
  const whose = { agentId, author, now, lastEvent: home.last_event }
  const rows = gatherRows({ ...whose, beneath: beneath(lowest?.n ?? 0) }, following)
  const flush = async () => {
    if (order.dryRun || following.fails()) rows.forget()
    else await rows.save(ask)
  }
  for await (const versions of source) {
    const keys = [...new Set(versions.map(({ key }) => key))]
    const heads = await ask(selectHeads, agentId, keys)
    rows.add(versions, new Map(heads.map((row) => [row.key, headOf(row)])))
    await flush()
  }
  rows.end()
  await flush()
  return rows.lastEvent()
}

async function take(
  importing: Importing,
  source: ImportSource,
  bounds: HomeBounds,
): Promise<ImportAnswer> {
  const { ask, identity, home, order, now } = importing
  const { agentId } = identity
  const following = followImport(home, order, bounds, now)
  const to = await bring(importing, source, following)
  const answer = following.answer()
  if (!isKept(answer, order)) throw new Undone(answer)
  const ledger = following.ledger()
  await saveHome(ask, agentId, { ...ledger, last_event: to }, now, to - home.last_event)
  const { bytes, history, deleted } = ledger
  const events = { from: home.last_event, to }
  await prune(ask, agentId, { made: [], bytes: bytes + history, deleted, events }, bounds)
  return answer
}

export function importVerb({ transact }: Connections, committed: () => void, bounds: HomeBounds) {
  return async (
    identity: Identity,
    source: ImportSource,
    order: ImportOrder,
    now: number,
  ): Promise<ImportAnswer> => {
    try {
      const answer = await transact(async (ask): Promise<ImportAnswer> => {
        const held = await holdHome(ask, identity)
        if (held.outcome !== 'held') return held
        return take({ ask, identity, home: held.home, order, now }, source, bounds)
      })
      if (answer.outcome === 'imported' && answer.imported > 0) committed()
      return answer
    } catch (error) {
      if (error instanceof Undone) return error.answer
      throw error
    }
  }
}
