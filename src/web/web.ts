/** What the pages bring along: the operator's workspace, the rooms' site, and refusals for people. */
import type { Config } from '../config.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Home } from '../home/home.ts'
import type { AgentCalls } from '../pipeline/agent-calls.ts'
import { remembering } from '../pipeline/remember.ts'
import type { Hooks } from '../pipeline/routes.ts'
import type { SessionStore } from '../store/port/sessions.ts'
import type { StoreStatus } from '../store/port/store.ts'
import { showInPlace } from './console/in-place.ts'
import type { Workspace } from './console/workspace.ts'
import { serviceIcon } from './layout/glyphs.ts'
import { refuseToPeople, showProblem } from './layout/problem-page.ts'
import type { SiteContext } from './rooms/site.ts'

interface Parts {
  readonly config: Config
  readonly store: SessionStore & { readonly status: () => Promise<StoreStatus> }
  readonly home: Home
  readonly gateway: Gateway
  readonly calls: Pick<AgentCalls, 'flush'>
}

export interface Web {
  readonly workspace: Workspace
  readonly site: SiteContext
  readonly refuse: Hooks['refuse']
  readonly showProblem: ReturnType<typeof showProblem>
  /** The sign of the service, as SVG. */
  readonly icon: string
}

/** Counting may look at every agent, so visitors share one count for a while. */
const COUNT_MS = 10_000

const KEY_BYTES = 32
/** Long enough that nobody waits for it, short enough that a database put back is heeded. */
const KEY_MS = 600_000

export function createWeb({ config, store, home, gateway, calls }: Parts): Web {
  const { PUBLIC_URL: publicUrl } = config
  const secure = publicUrl?.startsWith('https:') ?? false
  const totals = remembering(() => store.status(), COUNT_MS, home.clock)
  const offered = () => Buffer.from(home.random(KEY_BYTES)).toString('hex')
  const challengeKey = remembering(
    () => store.sharedSecret('challenges', offered()),
    KEY_MS,
    home.clock,
  )
  const workspace: Workspace = { ...home, sessions: store, calls, challengeKey, secure, publicUrl }
  return {
    workspace,
    site: { ...gateway, origins: home.origins, secure, publicUrl, totals },
    refuse: refuseToPeople((call, page) => showInPlace(call, workspace, page)),
    showProblem: showProblem(secure),
    icon: serviceIcon(),
  }
}
