/** The guards in front of every page and form, in their one order. */
import { problem } from '../../errors.ts'
import { fields } from '../../home/limits.ts'
import { type Answer, answer, type Call } from '../../http/call.ts'
import { type Fields, readForm } from '../../http/form.ts'
import type { Route } from '../../pipeline/endpoint.ts'
import { refuseOtherSites } from '../../pipeline/guards/same-site.ts'
import type { Identity, Session } from '../../store/port.ts'
import type { Console } from './console.ts'
import { currentSession } from './session.ts'

/** A page as asked for by a signed-in operator. */
export interface Visit {
  readonly call: Call
  readonly console: Console
  readonly session: Session
}

/** A page about one of the operator's agents. */
export interface AgentVisit extends Visit {
  readonly agent: Identity
}

/** See other: what follows a form that changed something. */
export function redirect(call: Call, path: string): Answer {
  call.responseHeaders.Location = path
  return answer(call, 303, null)
}

function enter(call: Call, { home }: Console): void {
  call.responseHeaders['Cache-Control'] = 'no-store'
  if (!home.enabled) throw problem('home_disabled')
}

/** Throws `origin_denied` and what a form's reading throws. */
async function submitted(call: Call, console: Console): Promise<Fields> {
  refuseOtherSites(call, console.home.origins)
  enter(call, console)
  return readForm(call, fields.body.maxBytes)
}

const HERE = 'http://here'

/** A way back as it was asked for, if it is a page of the console: nobody is sent elsewhere. */
export function consolePath(asked: string): string | undefined {
  const url = URL.parse(asked, HERE)
  const ours = url?.origin === HERE && /^\/console(\/|$)/.test(url.pathname)
  return ours ? url.pathname + url.search : undefined
}

function signInFor(call: Call): Answer {
  const next = call.search ? `${call.path}?${call.search}` : call.path
  return redirect(call, `/console/sign-in?next=${encodeURIComponent(next)}`)
}

async function visiting(call: Call, console: Console): Promise<Visit | undefined> {
  const session = await currentSession(call, console)
  return session && { call, console, session }
}

async function signedIn(call: Call, console: Console): Promise<Visit> {
  const visit = await visiting(call, console)
  if (!visit) throw problem('signed_out')
  return visit
}

/** /console/agents/<id>/…; another account's agent is as absent as one that never was. */
async function ofAgent(visit: Visit): Promise<AgentVisit> {
  const { call, console, session } = visit
  const agentId = call.path.split('/')[3] ?? ''
  const agent = await console.store.identifyOwner(session.accountId, agentId)
  if (!agent) throw problem('not_found', { detail: 'Your account has no such agent.' })
  call.notes.agent = agent.agentId
  call.notes.as = 'console'
  return { ...visit, agent }
}

type Handler<Subject extends unknown[]> = (...subject: Subject) => Promise<Answer>

/** A page for anyone. */
export const openPage = (
  operationId: string,
  path: string,
  handle: Handler<[Call, Console]>,
): Route<Console> => ({
  operationId,
  method: 'GET',
  path,
  async handle(call, console) {
    enter(call, console)
    return handle(call, console)
  },
})

/** A form for anyone. */
export const openForm = (
  operationId: string,
  path: string,
  handle: Handler<[Fields, Call, Console]>,
): Route<Console> => ({
  operationId,
  method: 'POST',
  path,
  handle: async (call, console) => handle(await submitted(call, console), call, console),
})

/** A page for a signed-in operator; others are sent to sign in. */
export const ownPage = (
  operationId: string,
  path: string,
  handle: Handler<[Visit]>,
): Route<Console> =>
  openPage(operationId, path, async (call, console) => {
    const visit = await visiting(call, console)
    return visit ? handle(visit) : signInFor(call)
  })

/** A form for a signed-in operator. */
export const ownForm = (
  operationId: string,
  path: string,
  handle: Handler<[Fields, Visit]>,
): Route<Console> =>
  openForm(operationId, path, async (sent, call, console) =>
    handle(sent, await signedIn(call, console)),
  )

const agentPath = (below: string): string => `/console/agents/:agent${below}`

/** A page about one of the operator's agents. */
export const agentPage = (
  operationId: string,
  below: string,
  handle: Handler<[AgentVisit]>,
): Route<Console> =>
  ownPage(operationId, agentPath(below), async (visit) => handle(await ofAgent(visit)))

/** A form about one of the operator's agents. */
export const agentForm = (
  operationId: string,
  below: string,
  handle: Handler<[Fields, AgentVisit]>,
): Route<Console> =>
  ownForm(operationId, agentPath(below), async (sent, visit) => handle(sent, await ofAgent(visit)))
