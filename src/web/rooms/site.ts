/** The dependencies of the pages that anybody may see, and who looks at them. */
import type { Gateway } from '../../gateway/gateway.ts'
import type { Call } from '../../http/call.ts'
import { varyBy } from '../../http/negotiate.ts'
import type { OriginPolicy } from '../../pipeline/origins.ts'
import { findSession, type WithSessions } from '../../pipeline/sessions.ts'
import type { Session } from '../../store/port/sessions.ts'
import type { StoreStatus } from '../../store/port/store.ts'
import type { Html } from '../layout/page.ts'

export interface SiteContext extends Gateway, Pick<WithSessions, 'sessions'> {
  /** Without the home nobody is signed in. */
  readonly homeEnabled: boolean
  readonly origins: OriginPolicy
  /** The service is reached over https. */
  readonly secure: boolean
  /** The public address, if known. */
  readonly publicUrl: string | undefined
  readonly totals: () => Promise<StoreStatus>
  /** The OpenAPI description, for people; rendered once. */
  readonly operations: () => Html
}

/** Who looks at a page, if they are signed in. Their pages are kept nowhere; visitors' are, apart. */
export async function visitorOf(call: Call, site: SiteContext): Promise<Session | undefined> {
  varyBy(call, 'Cookie')
  if (!site.homeEnabled) return undefined
  const session = await findSession(call, site)
  if (session) call.responseHeaders['Cache-Control'] = 'no-store'
  return session
}
