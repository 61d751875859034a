/** What the operator's pages are given to work with, and what their guards establish. */
import type { Home } from '../../home/home.ts'
import type { Call } from '../../http/call.ts'
import type { AgentCalls } from '../../pipeline/agent-calls.ts'
import type { OfOwner, SignedIn } from '../../pipeline/guards/session.ts'
import type { SessionStore } from '../../store/port/sessions.ts'

/** The pages act through the home's own verbs, as the operator of the account's agents. */
export interface Workspace extends Home {
  readonly sessions: SessionStore
  /** What agents asked for is written down before it is looked at. */
  readonly calls: Pick<AgentCalls, 'flush'>
  /** What the challenges of passkeys are sealed with, on every node alike. */
  readonly challengeKey: () => Promise<string>
  /** Where programs reach the service, as far as it is known. */
  readonly publicUrl: string | undefined
  /** People reach the service over https: cookies are Secure, and browsers are told to stay there. */
  readonly secure: boolean
}

/** A page as asked for by a signed-in operator. */
export interface Visit extends SignedIn {
  readonly call: Call
}

/** A page about one of the operator's agents. */
export interface AgentVisit extends Visit, OfOwner {}
