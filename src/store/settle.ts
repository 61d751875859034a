/**
 * Settles what a process has left unfinished: an import is taken back, and a rollback is finished.
 * Before a store is opened, and again while it is open: another process may end too.
 */
import { createKeyedQueue } from '../keyed-queue.ts'
import type { Timers } from '../timers.ts'
import { type BatchStore, type Begun, portionsOf, type Unfinished } from './batches.ts'
import { ROLLBACK } from './bring.ts'
import { changedByImport, changedUntil, fatesOf, weightOf } from './lines.ts'
import { StoreUnavailable } from './port/errors.ts'

/** How often it is looked for. */
const LOOK_MS = 5_000

/** Throws StoreUnavailable. */
async function finish(store: BatchStore, unfinished: Unfinished): Promise<void> {
  const { agentId, event, holder, by, rollback, now } = unfinished
  const lines = rollback
    ? await changedUntil(store, agentId, event - 1, rollback)
    : await changedByImport(store, agentId, event)
  const asked = {
    ...{ way: ROLLBACK, begun: { event, holder } },
    due: { unless: rollback ? 'changed_since' : 'changed_after_import', event } as const,
  }
  const backs = async function* () {
    for await (const some of fatesOf(store, agentId, lines)) {
      yield* some.filter((each) => each.fate === 'back')
    }
  }
  for await (const { items, isLast } of portionsOf(backs(), ({ was }) => weightOf(was))) {
    const end = rollback ? ('end_rollback' as const) : ('undo_import' as const)
    const batch = {
      ...asked,
      back: items.map(({ back }) => back),
      end: isLast ? end : undefined,
    }
    const answer = await store.writeBatch({ agentId, by }, batch, now)
    if (answer.outcome !== 'imported') throw new StoreUnavailable('another process settles it')
  }
  await store.prune(agentId)
}

export function settling(store: BatchStore, { every }: Timers) {
  const inTurn = createKeyedQueue()
  let isStopped = false

  async function home(agentId: string, mine?: Begun): Promise<void> {
    // What it takes over and cannot finish the next one would have to wait for.
    const unfinished = isStopped ? undefined : await store.takeOver(agentId, mine)
    if (unfinished) await finish(store, unfinished)
  }

  /** What cannot be settled now is settled later. */
  async function all(): Promise<void> {
    for (const agentId of await store.listUnfinished()) {
      await inTurn(agentId, () => home(agentId)).catch(() => {})
    }
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

export type Settle = ReturnType<typeof settling>
