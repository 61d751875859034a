/** Takes memories back in batches, each of which goes on with what has begun. */
import {
  type Actor,
  type BatchStore,
  type Begun,
  type Due,
  type Ending,
  portionsOf,
} from './batches.ts'
import { ROLLBACK } from './bring.ts'
import { fatesOf, weightOf } from './lines.ts'
import type { Refused } from './port/identity.ts'
import type { TakenBack } from './port/transfer.ts'
import type { Line } from './verbs/states-before.ts'

export interface TakenTotal {
  readonly outcome: 'taken'
  readonly restored: number
  readonly deleted: number
  readonly unchanged: number
  readonly skipped: readonly string[]
  readonly changes: readonly TakenBack[]
}

interface Going {
  readonly begun: Begun
  readonly due: Due
  readonly end: Ending
}

/** `lost`: another process goes on with it. */
export async function takeBackAll(
  store: BatchStore,
  actor: Actor,
  { begun, due, end }: Going,
  lines: readonly Line[],
  clock: () => number,
): Promise<TakenTotal | Refused | { readonly outcome: 'lost' }> {
  let [restored, deleted, unchanged] = [0, 0, 0]
  const skipped: string[] = []
  const changes: TakenBack[] = []
  async function* backs() {
    for await (const fates of fatesOf(store, actor.agentId, lines)) {
      unchanged += fates.unchanged
      skipped.push(...fates.skipped)
      yield* fates.back
    }
  }
  for await (const { items, isLast } of portionsOf(backs(), ({ was }) => weightOf(was))) {
    const back = items.map((each) => each.back)
    const batch = { way: ROLLBACK, begun, due, back, end: isLast ? end : undefined }
    const answer = await store.writeBatch(actor, batch, clock())
    if (answer.outcome === 'conflict' || answer.outcome === 'over_quota') {
      throw new Error('what is taken back has neither conflicts nor a quota')
    }
    if (answer.outcome !== 'imported') return answer
    deleted += answer.deleted ?? 0
    restored += answer.imported - (answer.deleted ?? 0)
    skipped.push(...(answer.taken?.skipped ?? []))
    changes.push(...(answer.taken?.changes ?? []))
  }
  return { outcome: 'taken', restored, deleted, unchanged, skipped, changes }
}
