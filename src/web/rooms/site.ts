/** What the landing page and the rooms are given to work with. */
import type { Gateway } from '../../gateway/gateway.ts'
import type { OriginPolicy } from '../../pipeline/origins.ts'
import type { StoreStatus } from '../../store/port/store.ts'

export interface SiteContext extends Gateway {
  readonly origins: OriginPolicy
  /** People reach the service over https. */
  readonly secure: boolean
  /** Where programs reach the service, as far as it is known. */
  readonly publicUrl: string | undefined
  readonly totals: () => Promise<StoreStatus>
}

/** Counting may look at every agent, so visitors share one count for a while. */
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
