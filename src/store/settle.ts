/**
 * Settles what a process has left unfinished: an import is taken back, and a rollback is finished.
 * Before a store is opened, and again while it is open: another process may end too.
 */
import { createKeyedQueue } from '../keyed-queue.ts'
import type { Timers } from '../timers.ts'
import type { BatchStore, Begun, Unfinished } from './batches.ts'
import { changedByImport, changedUntil } from './lines.ts'
import { StoreUnavailable } from './port/errors.ts'
import { takeBackAll } from './take-back.ts'

/** How often it is looked for. */
const LOOK_MS = 5_000

/** Throws StoreUnavailable. */
async function finish(store: BatchStore, unfinished: Unfinished): Promise<void> {
  const { agentId, event, holder, by, rollback, now } = unfinished
  const lines = rollback
    ? await changedUntil(store, agentId, event - 1, rollback)
    : await changedByImport(store, agentId, event)
  const going = {
    begun: { event, holder },
    due: { unless: rollback ? 'changed_since' : 'changed_after_import', event } as const,
    end: rollback ? ('end_rollback' as const) : ('undo_import' as const),
  }
  const taken = await takeBackAll(store, { agentId, by }, going, lines, () => now)
  // Otherwise another process goes on with it, or the agent was erased.
  if (taken.outcome === 'taken') await store.prune(agentId).catch(() => {})
}

export function settling(store: BatchStore, { every }: Timers) {
  const inTurn = createKeyedQueue()
  let isStopped = false

  async function home(agentId: string, mine?: Begun): Promise<void> {
    // What it takes over and cannot finish the next one would have to wait for.
    const unfinished = isStopped ? undefined : await store.takeOver(agentId, mine)
    if (!unfinished) return
    // To read what has changed may take longer than others wait.
    const endHolding = every(LOOK_MS, () => void store.goOn(agentId, unfinished).catch(() => {}))
    try {
      await finish(store, unfinished)
    } catch (cause) {
      const what = unfinished.rollback ? 'a rollback' : 'an import'
      throw new StoreUnavailable(`${what} that was left is not settled yet`, { cause })
    } finally {
      endHolding()
    }
  }

  /** What cannot be settled now is settled later; returns in how many homes. */
  async function all(): Promise<number> {
    let failed = 0
    for (const agentId of await store.listUnfinished()) {
      await inTurn(agentId, () => home(agentId)).catch(() => failed++)
    }
    return failed
  }

  const endLooking = every(LOOK_MS, () => void all().catch(() => {}))

  return {
    /** One import or rollback of a home at a time. */
    inTurn: <T>(agentId: string, work: () => Promise<T>): Promise<T> =>
      inTurn(agentId, async () => {
        await home(agentId)
        return work()
      }),
    /** In the turn of the caller, who may have begun it. */
    home,
    all,
    stop(): void {
      isStopped = true
      endLooking()
    },
  }
}

/** For the log of a start; undefined if all is settled. */
export const unsettled = (homes: number): string | undefined =>
  homes > 0
    ? `${homes === 1 ? '1 home has' : `${homes} homes have`} an import or a rollback that could not be settled: it is tried again every ${LOOK_MS / 1_000} seconds. Until then a part of it is visible, and the home takes no other.`
    : undefined

export type Settle = ReturnType<typeof settling>
