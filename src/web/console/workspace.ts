/** The dependencies of the console's pages, and the facts that their guards establish. */
import type { Home } from '../../home/home.ts'
import type { Call } from '../../http/call.ts'
import type { OAuth } from '../../oauth/oauth.ts'
import type { AgentCalls } from '../../pipeline/agent-calls.ts'
import type { OfOwner, SignedIn } from '../../pipeline/guards/session.ts'
import type { HostStore } from '../../store/port/host.ts'
import type { SessionStore } from '../../store/port/sessions.ts'

/** The pages call the home's own verbs, as the operator of the account's agents. */
export interface Workspace extends Home {
  /** Lets clients in that know the address of /mcp alone. */
  readonly oauth: OAuth
  readonly sessions: SessionStore
  /** For administrators. */
  readonly entries: Pick<HostStore, 'listEntries' | 'removeEntry'>
  /** Stores the counts of agents' calls before they are shown; and their last refused calls. */
  readonly calls: Pick<AgentCalls, 'flush' | 'refusalsOf'>
  /** Seals the challenges of passkeys; the same on every node. */
  readonly challengeKey: () => Promise<string>
  /** The public address, if known. */
  readonly publicUrl: string | undefined
  /** The service is reached over https: cookies are Secure, and HSTS is sent. */
  readonly secure: boolean
}

/** A request of a signed-in operator. */
export interface Visit extends SignedIn {
  readonly call: Call
}

/** A request about one of the operator's agents. */
export interface AgentVisit extends Visit, OfOwner {}
