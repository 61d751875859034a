/** What the browser's pages are given to work with. */
import type { Home } from '../../home/home.ts'
import type { SessionStore } from '../../store/port.ts'

export interface Console {
  /** The console acts through the home's own verbs, as the operator of the account's agents. */
  readonly home: Home
  readonly store: SessionStore
  /** People reach the service over https: cookies are Secure, and browsers are told to stay there. */
  readonly secure: boolean
}
