/** The pages and forms about one agent: what all of them declare alike. */
import type { z } from 'zod'
import type { ErrorCode, Problem } from '../../errors.ts'
import type { BudgetName } from '../../home/limits.ts'
import type { Answer } from '../../http/call.ts'
import { endpoint, type Request } from '../../pipeline/endpoint.ts'
import type { Announced } from '../../pipeline/guards/budget.ts'
import { again, type Sent } from '../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../pipeline/problem.ts'
import { recentSignIn } from './account/recent-sign-in.ts'
import { costs, formForOwner, forOwner, ofAgent } from './guards.ts'
import type { AgentVisit, Workspace } from './workspace.ts'

interface Declared<Visit> {
  readonly operationId: string
  readonly path: string
  /** Besides those of every page or form about an agent. */
  readonly errors?: readonly ErrorCode[]
  readonly handle: (visit: Visit, workspace: Workspace) => Answer | Promise<Answer>
}

export type Query = z.ZodObject | undefined

export type Queried<Q extends Query> = Pick<Request<[], undefined, Q, undefined>, 'query'>

/** A page costs what the same read costs a program; nothing if `budget` is null. */
export const agentPage = <Q extends Query = undefined>({
  budget = 'reads',
  errors = [],
  ...page
}: Declared<AgentVisit & Queried<Q>> & {
  readonly query?: Q & z.ZodObject
  readonly budget?: BudgetName | null
}) =>
  endpoint({
    ...page,
    method: 'GET',
    params: ofAgent,
    guards: [...forOwner, ...(budget === null ? ([] as const) : costs(budget))] as const,
    errors: ['invalid_token', ...errors],
  })

export type SentVisit = AgentVisit & Sent

export const agentForm = ({
  budget,
  refuse,
  confirm,
  errors = [],
  ...form
}: Declared<SentVisit & Announced> & {
  readonly budget: BudgetName
  /** Renders a refusal, as the form's page with its input and the errors. */
  readonly refuse?: (visit: SentVisit, workspace: Workspace, refusal: Problem) => Promise<Answer>
  /** The field of the password, if a recent sign-in is needed. */
  readonly confirm?: string | undefined
}) =>
  endpoint({
    ...form,
    method: 'POST',
    params: ofAgent,
    guards: [
      ...formForOwner,
      ...(refuse ? ([again(refuse)] as const) : ([] as const)),
      ...costs(budget),
      ...(confirm === undefined ? ([] as const) : ([recentSignIn(confirm)] as const)),
    ] as const,
    errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', ...errors],
  })
