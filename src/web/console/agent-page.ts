/** The frame of every page about one agent: name, status, pause switch, tabs, and live updates. */
import { html } from 'hono/html'
import { refusal } from '../../home/refusal.ts'
import type { Answer, Call } from '../../http/call.ts'
import type { ProfileAnswer } from '../../store/port/home.ts'
import type { Identity, Profile } from '../../store/port/identity.ts'
import { hidden } from '../layout/fields.ts'
import { glyph } from '../layout/glyphs.ts'
import { type Crumb, type Html, type Page, showPage } from '../layout/page.ts'
import { cancel, question, statusMark, type Tab, tabs } from '../layout/parts.ts'
import { agentPath } from '../layout/paths.ts'
import { number } from '../layout/words.ts'
import type { AgentVisit, Workspace } from './workspace.ts'

export type FoundAgent = ProfileAnswer & { readonly outcome: 'profile' }

/** Throws `invalid_token`. */
export async function findAgent({ store }: Workspace, identity: Identity): Promise<FoundAgent> {
  const found = await store.readProfile(identity)
  if (found.outcome !== 'profile') throw refusal(found)
  return found
}

const names = {
  overview: 'Overview',
  memories: 'Memories',
  activity: 'Activity',
  connect: 'Connect',
  keys: 'Keys',
  settings: 'Settings',
} as const

export type AgentTab = keyof typeof names

export interface AgentPage
  extends Pick<Page, 'title' | 'body' | 'status' | 'scripts' | 'here' | 'from' | 'looks'> {
  readonly tab: AgentTab
  /** Breadcrumbs between the tab's page and this one; none directly below the tab. */
  readonly trail?: readonly Crumb[]
  /** If it is already loaded. */
  readonly agent?: FoundAgent
}

export const tabPath = (agentId: string, tab: AgentTab): string =>
  tab === 'overview' ? agentPath(agentId) : `${agentPath(agentId)}/${tab}`

const tabsOf = ({ profile: { agentId }, memoryCount }: FoundAgent): Tab[] =>
  Object.entries(names).map(([id, name]) => ({
    id,
    name,
    path: tabPath(agentId, id as AgentTab),
    ...(id === 'memories' && { count: number(memoryCount) }),
  }))

const switches = {
  active: {
    next: 'paused',
    button: 'Pause',
    meaning:
      'It cannot read or write until you activate it again. You can still read, edit and export its memories. Nothing is lost.',
  },
  paused: {
    next: 'active',
    button: 'Activate',
    meaning: 'It continues where it stopped, with all of its memories.',
  },
} as const

/** The id of the switch's dialog, which other buttons may open too. */
export const SWITCH = 'switch'

/** The page with the switch, unless it is the response to a form. */
const backTo = ({ method, path, search }: Call, agentId: string): string =>
  method === 'GET' ? path + (search && `?${search}`) : agentPath(agentId)

function statusSwitch({ agentId, name, status }: Profile, call: Call): Html {
  const { next, button, meaning } = switches[status]
  const body = html`<p>${meaning}</p>
<form method="post" action="${agentPath(agentId)}/status" class="actions">
${hidden('status', next)}${hidden('back', backTo(call, agentId))}
<button><span>${button} <bdi>${name}</bdi></span></button>${cancel(SWITCH)}
</form>`
  return html`<div class="switch">${question({ id: SWITCH, button, title: html`${button} <bdi>${name}</bdi>?`, body })}</div>`
}

/** The heading, on the page that is about the agent itself. */
function nameOf({ agentId, name }: Profile, tab: AgentTab): Html {
  const link = html`<a href="${agentPath(agentId)}" dir="auto">${name}</a>`
  return tab === 'overview'
    ? html`<h1 class="name">${link}</h1>`
    : html`<p class="name">${link}</p>`
}

const bar = ({ profile }: FoundAgent, call: Call, tab: AgentTab): Html => html`<div
class="agent-bar" role="region" aria-label="Agent" id="agent" data-live>
${glyph(profile.symbol)}${nameOf(profile, tab)}
${statusMark(profile.status)}${statusSwitch(profile, call)}
</div>`

export const exportPath = (agentId: string): string => `${agentPath(agentId)}/export`

export const eventsPath = (agentId: string): string => `${agentPath(agentId)}/events`

/** Throws `invalid_token`. */
export async function framed(
  { call, session, identity }: AgentVisit,
  workspace: Workspace,
  page: AgentPage,
): Promise<Page> {
  const agent = page.agent ?? (await findAgent(workspace, identity))
  const { name } = agent.profile
  const { tab, title, here = title, trail } = page
  return {
    ...page,
    title: title === name ? name : `${title} · ${name}`,
    here,
    session,
    place: 'agents',
    ...(trail && { trail: [{ name: names[tab], path: tabPath(identity.agentId, tab) }, ...trail] }),
    agent: bar(agent, call, tab),
    band: html`<div id="tabs" data-live>${tabs(agent.profile.name, tabsOf(agent), tab)}</div>`,
  }
}

/** In its frame, and kept up to date by a script. Throws `invalid_token`. */
export async function showAgentPage(
  visit: AgentVisit,
  workspace: Workspace,
  page: AgentPage,
): Promise<Answer> {
  return showPage(visit.call, workspace.secure, {
    ...(await framed(visit, workspace, page)),
    scripts: [...(page.scripts ?? []), 'follow'],
    // Includes events from before the script begins to listen.
    follows: `${eventsPath(visit.identity.agentId)}?after=${visit.lastEvent}`,
  })
}
