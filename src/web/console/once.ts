/** Forms whose answer shows a secret: sent again, by a reload, they do nothing again. */
import { problem } from '../../errors.ts'
import type { Sent } from '../../pipeline/guards/form.ts'
import { findSession } from '../../pipeline/sessions.ts'
import { hidden } from '../layout/fields.ts'
import type { Html } from '../layout/page.ts'
import type { Visit, Workspace } from './workspace.ts'

/** Which turn of the session it is, as it stands now: what was sent since has taken turns. */
export async function turnField({ call, session }: Visit, workspace: Workspace): Promise<Html> {
  const { turn } = (await findSession(call, workspace)) ?? session
  return hidden('turn', turn)
}

/** Just before the form does what it does. Throws `form_sent_before`. */
export async function takeTurn(
  { session, sent }: Visit & Sent,
  { sessions }: Workspace,
): Promise<void> {
  const { turn = '' } = sent
  const isTaken = /^\d{1,15}$/.test(turn) && (await sessions.takeTurn(session.id, Number(turn)))
  if (!isTaken) throw problem('form_sent_before')
}
