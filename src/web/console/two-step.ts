/** An action with a page of its own, which explains it and asks for confirmation. */
import { html } from 'hono/html'
import type { z } from 'zod'
import type { ErrorCode } from '../../errors.ts'
import type { BudgetName } from '../../home/limits.ts'
import { type Answer, redirect } from '../../http/call.ts'
import type { Fields } from '../../http/form.ts'
import { endpoint } from '../../pipeline/endpoint.ts'
import { again, type Sent } from '../../pipeline/guards/form.ts'
import { session } from '../../pipeline/guards/session.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { refusalNote, type Typed } from '../layout/fields.ts'
import { type Html, nothing, type Page, showPage } from '../layout/page.ts'
import { agentPath } from '../layout/paths.ts'
import { proof, recentSignIn } from './account/recent-sign-in.ts'
import { type AgentPage, showAgentPage } from './agent-page.ts'
import { agentForm, agentPage, type Queried, type Query } from './endpoints.ts'
import { forAnyone, formForAnyone, withInput } from './guards.ts'
import type { AgentVisit, Visit, Workspace } from './workspace.ts'

const PASSWORD = 'password'

/** The content of the page. */
interface Shown {
  readonly heading: Html
  /** Under the heading. */
  readonly lead?: string
  /** An explanation above the form. */
  readonly about?: Html
  readonly fields: Html
  /** Undefined if the fields have one of their own. */
  readonly button: string | undefined
  /** It cannot be undone. */
  readonly danger?: boolean
  /** The link of Cancel. */
  readonly cancel: string
}

interface TwoStep<V extends Visit, View> {
  /** Of the form; `Page` is appended for the page. */
  readonly operationId: string
  readonly view: (visit: V, workspace: Workspace, typed: Typed) => View | Promise<View>
  /** Performs the action. Returns the path to redirect to. */
  readonly send: (visit: V & Sent, workspace: Workspace) => Promise<string>
  readonly errors?: readonly ErrorCode[]
}

const line = (part: Html | undefined): Html => (part ? html`\n${part}` : nothing)

/** `isRecent`: only after a recent sign-in, whose proof is asked for beside the fields. */
async function content(
  visit: Visit,
  workspace: Workspace,
  typed: Typed,
  { heading, lead, about, fields, button, danger, cancel }: Shown,
  { action, isRecent }: { readonly action: string; readonly isRecent: boolean },
): Promise<Pick<Page, 'body' | 'status' | 'scripts'>> {
  const asked = isRecent ? await proof(PASSWORD, visit, workspace, typed) : undefined
  return {
    ...(isRecent && { scripts: ['passkey'] }),
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow"><h1>${heading}</h1>${line(lead ? html`<p class="lead">${lead}</p>` : undefined)}
${refusalNote(typed)}${line(about)}
<form method="post" action="${action}" class="stack">
${fields}${line(asked)}
<p class="actions">${button ? html`<button${danger ? html` class="danger"` : nothing}>${button}</button>` : nothing}
<a class="button quiet" href="${cancel}">Cancel</a></p>
</form></div>`,
  }
}

interface AgentView extends Shown, Omit<AgentPage, 'body' | 'status'> {}

interface AgentTwoStep<Q extends Query> extends TwoStep<AgentVisit, AgentView> {
  /** Below the agent's own path. */
  readonly below: string
  readonly query?: Q & z.ZodObject
  /** The initial values of the fields. */
  readonly start?: (query: Queried<Q>['query']) => Fields
  /** May replace the page, for example if the memory is gone. */
  readonly instead?: (
    visit: AgentVisit,
    workspace: Workspace,
    values: Fields,
    page: Promise<Answer>,
  ) => Promise<Answer>
  readonly budget?: BudgetName
  /** A recent sign-in is needed. */
  readonly confirm?: boolean
}

/** For one agent. */
export function agentTwoStep<Q extends Query = undefined>({
  operationId,
  below,
  query,
  start,
  instead,
  view,
  send,
  budget = 'controls',
  confirm = false,
  errors = [],
}: AgentTwoStep<Q>) {
  const path = `${agentPath(':agent')}/${below}`
  async function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
    const shown = await view(visit, workspace, typed)
    const where = { action: `${agentPath(visit.identity.agentId)}/${below}`, isRecent: confirm }
    const page = await content(visit, workspace, typed, shown, where)
    return showAgentPage(visit, workspace, { ...shown, ...page })
  }
  const page = agentPage({
    operationId: `${operationId}Page`,
    path,
    ...(query && { query }),
    handle(visit: AgentVisit & Queried<Q>, workspace) {
      const values = start?.(visit.query) ?? {}
      const shown = show(visit, workspace, { values })
      return instead?.(visit, workspace, values, shown) ?? shown
    },
  })
  const form = agentForm({
    operationId,
    path,
    budget,
    confirm: confirm ? PASSWORD : undefined,
    errors,
    refuse: withInput(show),
    handle: async (visit, workspace) => redirect(visit.call, await send(visit, workspace)),
  })
  return [page, form] as const
}

interface AccountView extends Shown, Pick<Page, 'title' | 'place' | 'trail'> {}

interface AccountTwoStep extends TwoStep<Visit, AccountView> {
  readonly path: string
  /** Gives the initial values of the fields. */
  readonly query?: z.ZodObject<Record<string, z.ZodString>>
  readonly who?: typeof session
}

/** For the account itself; always needs a recent sign-in. */
export function accountTwoStep({
  operationId,
  path,
  query,
  who = session,
  view,
  send,
  errors = [],
}: AccountTwoStep) {
  async function show(visit: Visit, workspace: Workspace, typed: Typed): Promise<Answer> {
    const shown = await view(visit, workspace, typed)
    const page = await content(visit, workspace, typed, shown, { action: path, isRecent: true })
    return showPage(visit.call, workspace.secure, { ...shown, session: visit.session, ...page })
  }
  const page = endpoint({
    operationId: `${operationId}Page`,
    method: 'GET',
    path,
    guards: [...forAnyone, who],
    ...(query && { query }),
    handle: (visit, workspace: Workspace) => show(visit, workspace, { values: visit.query ?? {} }),
  })
  const form = endpoint({
    operationId,
    method: 'POST',
    path,
    guards: [...formForAnyone, who, again(withInput(show)), recentSignIn(PASSWORD)],
    errors: [...WRITE_ERRORS, 'invalid_body', ...errors],
    handle: async (visit, workspace: Workspace) =>
      redirect(visit.call, await send(visit, workspace)),
  })
  return [page, form] as const
}
