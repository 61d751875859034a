/** What stands in front of the operator's pages and forms, in order. */
import { z } from 'zod'
import { type BudgetName, body } from '../../home/limits.ts'
import type { Answer } from '../../http/call.ts'
import { announce, spent } from '../../pipeline/guards/budget.ts'
import { again, form, type Sent } from '../../pipeline/guards/form.ts'
import { sameSite } from '../../pipeline/guards/origin.ts'
import { enabled, noStore } from '../../pipeline/guards/private.ts'
import { owner, session } from '../../pipeline/guards/session.ts'
import type { Typed } from '../layout/fields.ts'
import type { Visit, Workspace } from './workspace.ts'

/** A page for anyone. */
export const forAnyone = [noStore, enabled] as const

/** A form for anyone. */
export const formForAnyone = [sameSite, noStore, enabled, form(body.maxBytes)] as const

/** A page for whoever is signed in. */
export const forSignedIn = [...forAnyone, session] as const

/** A form for whoever is signed in. */
export const formForSignedIn = [...formForAnyone, session] as const

/** A page about one of the account's agents. */
export const forOwner = [...forSignedIn, owner] as const

/** A form about one of the account's agents. */
export const formForOwner = [...formForSignedIn, owner] as const

/** From here on a refusal shows the page once more, with what was typed. */
export const shownAgain = <V extends Visit>(
  show: (visit: V, workspace: Workspace, typed: Typed) => Promise<Answer>,
) =>
  again((visit: V & Sent, workspace: Workspace, refusal) =>
    show(visit, workspace, { values: visit.sent, refusal }),
  )

/** What is done costs what it costs a program. */
export const costs = (budget: BudgetName) => [announce(budget), spent] as const

/** Of a path about one agent. */
export const ofAgent = z.object({ agent: z.string() })
