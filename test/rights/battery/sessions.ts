/** Everybody who is not signed in, and who is signed in to another account. */
import { takesSession } from '../rights.ts'
import { bearer, expecting, type Faults, outcomeOf, type Subject } from '../subject.ts'

const NOBODY = '00000000-0000-7000-8000-000000000000'

export async function* sessions(subject: Subject): Faults {
  const { row, world, letIn } = subject
  if (!takesSession(row)) return
  const { visits, mine } = world
  const outcome = row.method === 'GET' ? 'to sign in' : 'signed_out'
  const kinds = {
    'without a session': {},
    'with a session that never was': { cookie: `${visits.mine.slice(0, -1)}-` },
    'with an expired session': { cookie: visits.expired },
    'with a session that was signed out': { cookie: visits.signedOut },
    'with the operator token': bearer(mine.operatorToken),
    'with the agent token': bearer(mine.token),
  }
  for (const [what, as] of Object.entries(kinds)) {
    yield* expecting(subject, what, outcome, { as })
  }
  yield* expecting(subject, 'with the right session', letIn)
}

/** For who is no administrator, what is theirs is not there. */
export async function* admins(subject: Subject): Faults {
  const { row, world } = subject
  if (row.access !== 'admin') return
  const as = { cookie: world.visits.other }
  yield* expecting(subject, 'with the session of no administrator', 'not_found', { as })
}

/** Another account's agent is as absent as one that never was. */
export async function* owners(subject: Subject): Faults {
  const { row, world } = subject
  if (row.access !== 'owner') return
  const { mine, other, rotated, visits } = world
  const theirs = { as: { cookie: visits.other } }
  yield* expecting(subject, 'with the session of another account', 'not_found', theirs)
  for (const agentId of [other.agentId, rotated.agentId, NOBODY, 'x']) {
    yield* expecting(subject, `for the agent ${agentId}`, 'not_found', { agentId })
  }
  const own = { agentId: other.agentId, ...theirs }
  if (mine.agentId === other.agentId) yield 'one agent is in two accounts'
  if (outcomeOf(await subject.ask(own)) === 'not_found')
    yield `${row.operationId} does not let in another account`
}
