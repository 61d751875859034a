/** What its operator has turned off, and who is not listed. */
import { expecting, type Faults, type Subject } from '../subject.ts'

export async function* switchedOff(subject: Subject): Faults {
  const { row, letIn } = subject
  const disabled = row.ofHome ? 'home_disabled' : letIn
  yield* expecting(subject, 'with the home disabled', disabled, { setting: 'disabled' })
  const closed = row.needsBirths ? 'births_disabled' : letIn
  yield* expecting(subject, 'with births closed', closed, { setting: 'closed' })
}

/** Tokens are issued where nobody reads them on the way: the name of this setting has no https. */
export async function* offers(subject: Subject): Faults {
  if (!subject.row.offered || subject.row.form) return
  yield* expecting(subject, 'without https', 'oauth_unavailable', { setting: 'named' })
}

export async function* addresses(subject: Subject): Faults {
  const { row, letIn } = subject
  const outcome = row.access === 'listed-address' ? 'address_denied' : letIn
  const from = '192.0.2.1'
  yield* expecting(subject, `from ${from}`, outcome, { from })
  const headers = { 'x-forwarded-for': '127.0.0.1' }
  yield* expecting(subject, 'when it was forwarded', outcome, { headers })
}

/** Nobody is told apart here: no credential is looked at, right or wrong. */
export async function* anybody(subject: Subject): Faults {
  if (subject.row.access !== 'anyone') return
  yield* expecting(subject, 'without a credential', subject.letIn, { as: {} })
  const wrong = { authorization: 'Bearer nonsense', cookie: 'agent-home-session=nonsense' }
  yield* expecting(subject, 'with wrong credentials', subject.letIn, { as: wrong })
}
