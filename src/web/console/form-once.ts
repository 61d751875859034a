/** Forms that take effect once, however often they are sent. */
import { problem } from '../../errors.ts'
import { isOwnKey, newKey } from '../../home/birth-key.ts'
import type { Sent } from '../../pipeline/guards/form.ts'
import { findSession } from '../../pipeline/sessions.ts'
import { hidden } from '../layout/fields.ts'
import type { Html } from '../layout/page.ts'
import type { Visit, Workspace } from './workspace.ts'

/** The key of a form, or a new one, so that a form takes effect once even if it is sent twice. */
export const formKey = (key: string | undefined, { random }: Workspace): string =>
  isOwnKey(key ?? '') ? (key ?? '') : newKey(random)

/** The current turn of the session: forms that were sent since then have taken turns. */
export async function turnField({ call, session }: Visit, workspace: Workspace): Promise<Html> {
  const { turn } = (await findSession(call, workspace)) ?? session
  return hidden('turn', turn)
}

/** Called just before the form takes effect. Throws `form_sent_before`. */
export async function takeTurn(
  { session, sent }: Visit & Sent,
  { sessions }: Workspace,
): Promise<void> {
  const { turn = '' } = sent
  const isTaken = /^\d{1,15}$/.test(turn) && (await sessions.takeTurn(session.id, Number(turn)))
  if (!isTaken) throw problem('form_sent_before')
}
