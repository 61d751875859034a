/** A page about what was refused, where it was: who is signed in keeps the way to everything else. */
import type { Answer, Call } from '../../http/call.ts'
import { currentSession } from '../../pipeline/sessions.ts'
import type { Session } from '../../store/port/sessions.ts'
import { type Page, showPage } from '../layout/page.ts'
import { ACCOUNT, AGENTS } from '../layout/paths.ts'
import { type AgentTab, showAgentPage } from './agent-page.ts'
import type { Workspace } from './workspace.ts'

const OF_AGENT = /^\/console\/agents\/([^/]+)(?:\/(\w+))?/

const tabs: Readonly<Record<string, AgentTab>> = {
  memory: 'memories',
  memories: 'memories',
  activity: 'activity',
  keys: 'keys',
  key: 'keys',
}

/** Undefined where it is about no agent of theirs. */
async function besideAgent(call: Call, workspace: Workspace, session: Session, page: Page) {
  const [, agentId, below = ''] = OF_AGENT.exec(call.path) ?? []
  if (agentId === undefined) return undefined
  const owner = await workspace.sessions.identifyOwner(session.accountId, agentId)
  if (!owner) return undefined
  const tab = tabs[below] ?? (below ? 'settings' : 'overview')
  const { title, body, status = 200 } = page
  return showAgentPage({ call, session, ...owner }, workspace, { title, body, status, tab })
}

async function framed(call: Call, workspace: Workspace, page: Page): Promise<Answer | undefined> {
  const session = await currentSession(call, workspace)
  if (!session) return undefined
  call.responseHeaders['Cache-Control'] = 'no-store'
  const place = call.path.startsWith(ACCOUNT) ? 'account' : 'agents'
  return (
    (await besideAgent(call, workspace, session, page)) ??
    showPage(call, workspace.secure, { ...page, session, place })
  )
}

/** Where it cannot be told who asks, the page stands alone: that may be what was refused. */
export async function showInPlace(call: Call, workspace: Workspace, page: Page): Promise<Answer> {
  const ofConsole = call.path === AGENTS || call.path.startsWith(`${AGENTS}/`)
  const found =
    ofConsole && workspace.enabled
      ? await framed(call, workspace, page).catch(() => undefined)
      : undefined
  return found ?? showPage(call, workspace.secure, page)
}
