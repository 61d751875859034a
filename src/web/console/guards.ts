/** What stands in front of the operator's pages and forms, in order. */
import { z } from 'zod'
import type { BudgetName } from '../../home/limits.ts'
import { body } from '../../home/limits.ts'
import { announce, spent } from '../../pipeline/guards/budget.ts'
import { form } from '../../pipeline/guards/form.ts'
import { sameSite } from '../../pipeline/guards/origin.ts'
import { enabled, noStore } from '../../pipeline/guards/private.ts'
import { owner, session } from '../../pipeline/guards/session.ts'

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

/** What is done costs what it costs a program. */
export const costs = (budget: BudgetName) => [announce(budget), spent] as const

/** Of a path about one agent. */
export const ofAgent = z.object({ agent: z.string() })
