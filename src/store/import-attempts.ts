/** An import is dry-run before it is written, and retried if other writes overtook it. */
import { StoreUnavailable } from './port/errors.ts'
import type { ImportAnswer, ImportOrder } from './port/transfer.ts'

/** `lost`: the staged rows are gone. `overtaken`: rows that it needs now were not staged. */
export type FinishAnswer =
  | ImportAnswer
  | { readonly outcome: 'lost' }
  | { readonly outcome: 'overtaken' }

/** How often an import is retried when other writes change the memories that it continues. */
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
 * A refused or empty import writes nothing: rows that are staged and then removed would leave the
 * database as large as they made it. Throws StoreUnavailable.
 */
export async function importWhole(
  attempt: (order: ImportOrder) => Promise<FinishAnswer>,
  order: ImportOrder,
): Promise<ImportAnswer> {
  const foreseen = await untilTaken(() => attempt({ ...order, dryRun: true }))
  const brings = foreseen.outcome === 'imported' && foreseen.imported > 0
  return order.dryRun || !brings ? foreseen : untilTaken(() => attempt(order))
}
