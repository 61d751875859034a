/** POST /console/agents/<id>/settings: another name, purpose or symbol. */
import { profileChange } from '../../../home/profile.ts'
import { refusal as refusalOf } from '../../../home/refusal.ts'
import { redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { tabPath } from '../agent-page.ts'
import { costs, formForOwner, ofAgent, shownAgain } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { showSettings } from './settings.ts'

/** As at birth. */
const requestOf = ({ name, purpose, symbol }: Fields) =>
  validateBody(profileChange, {
    name: name?.trim(),
    purpose: purpose?.replaceAll('\r\n', '\n').trim(),
    symbol,
  })

export const profileForm = endpoint({
  operationId: 'consoleProfile',
  method: 'POST',
  path: tabPath(':agent', 'settings'),
  params: ofAgent,
  guards: [...formForOwner, shownAgain(showSettings), ...costs('controls')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle({ call, identity, sent }, { store, clock }: Workspace) {
    const changed = await store.changeProfile(identity, requestOf(sent), clock())
    if (changed.outcome === 'revoked') throw refusalOf(changed)
    return redirect(call, tabPath(identity.agentId, 'settings'))
  },
})
