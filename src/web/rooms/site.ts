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
