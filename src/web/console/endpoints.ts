/** How the console declares pages and forms about an agent: what all of them share is stated here. */
import type { z } from 'zod'
import type { ErrorCode, Problem } from '../../errors.ts'
import type { BudgetName } from '../../home/limits.ts'
import type { Answer } from '../../http/call.ts'
import { endpoint, type Request } from '../../pipeline/endpoint.ts'
import type { Announced } from '../../pipeline/guards/budget.ts'
import { again, type Sent } from '../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { secondLook } from './account/second-look.ts'
import { costs, formForOwner, forOwner, ofAgent } from './guards.ts'
import type { AgentVisit, Workspace } from './workspace.ts'

interface Declared<Visit> {
  readonly operationId: string
  readonly path: string
  /** Besides those that every page or form of its kind has. */
  readonly errors?: readonly ErrorCode[]
  readonly handle: (visit: Visit, workspace: Workspace) => Answer | Promise<Answer>
}

export type Query = z.ZodObject | undefined

export type Queried<Q extends Query> = Pick<Request<[], undefined, Q, undefined>, 'query'>

/** A page about one agent. It costs what the same read costs a program. */
export const agentPage = <Q extends Query = undefined>({
  budget = 'reads',
  errors = [],
  ...page
}: Declared<AgentVisit & Queried<Q>> & {
  readonly query?: Q & z.ZodObject
  readonly budget?: BudgetName
}) =>
  endpoint({
    ...page,
    method: 'GET',
    params: ofAgent,
    guards: [...forOwner, ...costs(budget)],
    errors: ['invalid_token', ...errors],
  })

export type SentVisit = AgentVisit & Sent

/** A form about one agent. */
export function agentForm({
  budget,
  refuse,
  confirm,
  errors = [],
  ...form
}: Declared<SentVisit & Announced> & {
  readonly budget: BudgetName
  /** Shows the page again, with what is wrong. */
  readonly refuse: (visit: SentVisit, workspace: Workspace, refusal: Problem) => Promise<Answer>
  /** The field of the password, where a recent sign-in is needed. */
  readonly confirm?: string | undefined
}) {
  const declared = {
    ...form,
    method: 'POST',
    params: ofAgent,
    errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', ...errors],
  } as const
  const guards = [...formForOwner, again(refuse), ...costs(budget)] as const
  return confirm === undefined
    ? endpoint({ ...declared, guards })
    : endpoint({ ...declared, guards: [...guards, secondLook(confirm)] })
}
