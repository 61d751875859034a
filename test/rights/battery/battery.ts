/** All that is asked of an endpoint to see that it keeps to its row of rights. */
import type { Faults, Subject } from '../subject.ts'
import {
  budgetsAnnounced,
  budgetsShown,
  budgetsSpent,
  faultsAreCounted,
  refusalsAreFree,
} from './budgets.ts'
import { forms, formsAgain, secondLooks } from './forms.ts'
import { keeping, keepingRefusals, runs, strictness } from './headers.ts'
import { browsers, listedOrigins, otherSites, readers } from './origins.ts'
import { admins, owners, sessions } from './sessions.ts'
import { addresses, anybody, offers, switchedOff } from './settings.ts'
import {
  cookiesAlone,
  idempotencyKeys,
  malformedTokens,
  otherTenants,
  storedTokens,
} from './tokens.ts'
import { unchanged } from './unchanged.ts'
import { slowSenders, waiting } from './waiting.ts'

/** Asks one thing of an endpoint. */
export type Part = (subject: Subject) => Faults

/** Decided before a store is asked, so one engine is as good as another. */
const decidedAtTheDoor: readonly Part[] = [
  keeping,
  switchedOff,
  offers,
  listedOrigins,
  otherSites,
  readers,
  browsers,
  strictness,
  runs,
  keepingRefusals,
  forms,
  formsAgain,
  secondLooks,
  addresses,
  anybody,
  waiting,
  slowSenders,
  budgetsShown,
  budgetsAnnounced,
  refusalsAreFree,
  budgetsSpent,
  faultsAreCounted,
  idempotencyKeys,
  malformedTokens,
  cookiesAlone,
]

/** Decided by what an engine has stored. */
const decidedByTheStore: readonly Part[] = [
  unchanged,
  storedTokens,
  otherTenants,
  sessions,
  admins,
  owners,
]

export const parts: readonly Part[] = [...decidedAtTheDoor, ...decidedByTheStore]

async function* inTurn(parts: readonly Part[], subject: Subject): Faults {
  for (const part of parts) {
    yield* part(subject)
    await subject.settle()
  }
}

export const atTheDoor = (subject: Subject): Faults => inTurn(decidedAtTheDoor, subject)

export const byTheStore = (subject: Subject): Faults => inTurn(decidedByTheStore, subject)
