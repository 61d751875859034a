/** An import is counted before it is written, and one that others overtake begins anew. */
import { StoreUnavailable } from './port/errors.ts'
import type { ImportAnswer, ImportOrder } from './port/transfer.ts'

/** `lost`: what was written ahead is gone. `overtaken`: what it needs now was not written. */
export type FinishAnswer =
  | ImportAnswer
  | { readonly outcome: 'lost' }
  | { readonly outcome: 'overtaken' }

/** How often it begins anew where others change what it was to go on from. */
const TRIES = 5

async function untilTaken(attempt: () => Promise<FinishAnswer>): Promise<ImportAnswer> {
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await attempt()
    if (answer.outcome === 'lost') throw new StoreUnavailable('what was written is not known')
    if (answer.outcome !== 'overtaken') return answer
  }
  throw new StoreUnavailable('what is to be replaced is deleted again and again')
}

/**
 * What is refused, or brings nothing, is so before anything of it is written: rows that are written
 * and dropped again would leave the database as large as they made it. Throws StoreUnavailable.
 */
export async function importWhole(
  attempt: (order: ImportOrder) => Promise<FinishAnswer>,
  order: ImportOrder,
): Promise<ImportAnswer> {
  const foreseen = await untilTaken(() => attempt({ ...order, dryRun: true }))
  const brings = foreseen.outcome === 'imported' && foreseen.imported > 0
  return order.dryRun || !brings ? foreseen : untilTaken(() => attempt(order))
}
