/** The guards of the console's pages and forms, in order. */
import { z } from 'zod'
import type { Problem } from '../../errors.ts'
import { type BudgetName, body } from '../../home/limits.ts'
import type { Answer } from '../../http/call.ts'
import type { Facts } from '../../pipeline/guard.ts'
import { announce, spent } from '../../pipeline/guards/budget.ts'
import { form, type Sent } from '../../pipeline/guards/form.ts'
import { sameSite } from '../../pipeline/guards/origin.ts'
import { enabled, noStore } from '../../pipeline/guards/private.ts'
import { owner, session } from '../../pipeline/guards/session.ts'
import type { Typed } from '../layout/fields.ts'
import type { Workspace } from './workspace.ts'

export const forAnyone = [noStore, enabled] as const
export const formForAnyone = [sameSite, noStore, enabled, form(body.maxBytes)] as const

export const forSignedIn = [...forAnyone, session] as const
export const formForSignedIn = [...formForAnyone, session] as const

/** Of one of the account's agents. */
export const forOwner = [...forSignedIn, owner] as const
export const formForOwner = [...formForSignedIn, owner] as const

/** Renders a refusal as the form's page, with the input and the errors. */
export const withInput =
  <V extends Facts>(
    show: (visit: V, workspace: Workspace, typed: Typed) => Answer | Promise<Answer>,
  ) =>
  async (visit: V & Sent, workspace: Workspace, refusal: Problem): Promise<Answer> =>
    show(visit, workspace, { values: visit.sent, refusal })

/** The same as for a program. */
export const costs = (budget: BudgetName) => [announce(budget), spent] as const

/** The parameters of a path about one agent. */
export const ofAgent = z.object({ agent: z.string() })
