/** The dependencies of the landing page and the rooms. */
import type { Gateway } from '../../gateway/gateway.ts'
import type { OriginPolicy } from '../../pipeline/origins.ts'
import type { StoreStatus } from '../../store/port/store.ts'

export interface SiteContext extends Gateway {
  readonly origins: OriginPolicy
  /** The service is reached over https. */
  readonly secure: boolean
  /** The public address, if known. */
  readonly publicUrl: string | undefined
  readonly totals: () => Promise<StoreStatus>
}
