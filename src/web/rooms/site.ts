/** What the landing page and the rooms are given to work with. */

import type { Gateway } from '../../gateway/gateway.ts'
import type { Answer } from '../../http/call.ts'
import type { OriginPolicy } from '../../pipeline/guards/origin.ts'
import type { StoreStatus } from '../../store/port.ts'

export interface Hall {
  readonly gateway: Gateway
  readonly origins: OriginPolicy
  readonly secure: boolean
  /** Where programs reach the service, as far as it is known. */
  readonly publicUrl: string | undefined
  readonly totals: () => Promise<StoreStatus>
}

/** Counting looks at every agent, so visitors share one count for a while. */
const COUNT_MS = 10_000

export function countedNowAndThen(
  count: () => Promise<StoreStatus>,
  clock: () => number,
): () => Promise<StoreStatus> {
  let counted: Promise<StoreStatus> | undefined
  let countedAt = 0
  return () => {
    if (counted && clock() - countedAt < COUNT_MS) return counted
    countedAt = clock()
    counted = count()
    // A count that failed is not kept.
    counted.catch(() => {
      counted = undefined
    })
    return counted
  }
}

/** Visitors wait at the gateway's door like its callers, so that the home goes first. */
export async function through(hall: Hall, work: () => Promise<Answer>): Promise<Answer> {
  const leave = await hall.gateway.turnstile.enter()
  try {
    return await work()
  } finally {
    leave()
  }
}
