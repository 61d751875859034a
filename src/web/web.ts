/** The dependencies of the pages, and error pages. */
import type { Config } from '../config.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { Home } from '../home/home.ts'
import type { Answer, Call } from '../http/call.ts'
import { lazily } from '../lazily.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { AgentCalls } from '../pipeline/agent-calls.ts'
import { remembering } from '../pipeline/remember.ts'
import { currentSession } from '../pipeline/sessions.ts'
import { sharedSecret } from '../pipeline/shared-secret.ts'
import type { Session, SessionStore } from '../store/port/sessions.ts'
import type { StoreStatus } from '../store/port/store.ts'
import { type AgentTab, showAgentPage } from './console/agent-page.ts'
import type { Workspace } from './console/workspace.ts'
import { serviceIcon } from './layout/glyphs.ts'
import { type Page, showPage } from './layout/page.ts'
import { ACCOUNT, AGENTS } from './layout/paths.ts'
import { refuseToPeople, showProblem } from './layout/problem-page.ts'
import { operationsIn } from './rooms/documents.ts'
import { type SiteContext, visitorOf } from './rooms/site.ts'

const OF_AGENT = /^\/console\/agents\/([^/]+)(?:\/(\w+))?/

const tabs: Readonly<Record<string, AgentTab>> = {
  memory: 'memories',
  memories: 'memories',
  activity: 'activity',
  connect: 'connect',
  keys: 'keys',
  key: 'keys',
}

/** Undefined if it is not about one of their agents. */
async function besideAgent(call: Call, workspace: Workspace, session: Session, page: Page) {
  const [, agentId, below = ''] = OF_AGENT.exec(call.path) ?? []
  if (agentId === undefined) return undefined
  const owner = await workspace.sessions.identifyOwner(session.accountId, agentId)
  if (!owner) return undefined
  const tab = tabs[below] ?? (below ? 'settings' : 'overview')
  const { title, body, status = 200 } = page
  return showAgentPage({ call, session, ...owner }, workspace, { title, body, status, tab })
}

async function inFrame(call: Call, workspace: Workspace, page: Page): Promise<Answer | undefined> {
  const session = await currentSession(call, workspace)
  if (!session) return undefined
  call.responseHeaders['Cache-Control'] = 'no-store'
  const place = call.path.startsWith(ACCOUNT) ? 'account' : 'agents'
  return (
    (await besideAgent(call, workspace, session, page)) ??
    showPage(call, workspace.secure, { ...page, session, place })
  )
}

/** If the session cannot be read, the page has no frame. */
async function showInPlace(
  call: Call,
  workspace: Workspace,
  site: SiteContext,
  page: Page,
): Promise<Answer> {
  const ofConsole = call.path === AGENTS || call.path.startsWith(`${AGENTS}/`)
  const found =
    ofConsole && workspace.enabled
      ? await inFrame(call, workspace, page).catch(() => undefined)
      : undefined
  if (found) return found
  const session = ofConsole ? undefined : await visitorOf(call, site).catch(() => undefined)
  return showPage(call, workspace.secure, { ...page, session })
}

interface Parts {
  readonly config: Config
  readonly store: SessionStore &
    Workspace['entries'] & { readonly status: () => Promise<StoreStatus> }
  readonly home: Home
  readonly oauth: OAuth
  readonly gateway: Gateway
  readonly calls: Pick<AgentCalls, 'flush' | 'refusalsOf'>
  /** The OpenAPI description, as JSON text. `url`: the public address. */
  readonly describe: (url: string) => string
}

/** Visitors share a count. */
const COUNT_MS = 10_000

const KEY_BYTES = 32
/** Long enough to save work, short enough to notice a restored database. */
const KEY_MS = 600_000

export function createWeb({ config, store, home, oauth, gateway, calls, describe }: Parts) {
  const { PUBLIC_URL: publicUrl } = config
  const secure = publicUrl?.startsWith('https:') ?? false
  const totals = remembering(() => store.status(), COUNT_MS, home.clock)
  const sharedKey = () =>
    sharedSecret(store, 'challenges', () => Buffer.from(home.random(KEY_BYTES)).toString('hex'))
  const challengeKey = remembering(sharedKey, KEY_MS, home.clock)
  const sessions = store
  const workspace: Workspace = {
    ...home,
    ...{ oauth, sessions, entries: store, calls, challengeKey, secure, publicUrl },
  }
  const site: SiteContext = {
    ...gateway,
    ...{ origins: home.origins, sessions, homeEnabled: home.enabled, secure, publicUrl, totals },
    operations: lazily(() => operationsIn(describe(publicUrl ?? ''))),
  }
  const inPlace = (call: Call, page: Page) => showInPlace(call, workspace, site, page)
  return {
    workspace,
    site,
    refuse: refuseToPeople(inPlace),
    showProblem: showProblem(inPlace),
    /** The logo as SVG. */
    icon: serviceIcon(),
  }
}
