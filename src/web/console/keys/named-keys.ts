/** POST /console/agents/<id>/keys and …/keys/end: a named key is made, its token shown once, or ended. */
import { html } from 'hono/html'
import { dropKey, keyRequest, makeKey } from '../../../home/keys/named.ts'
import { redirect } from '../../../http/call.ts'
import type { Fields } from '../../../http/form.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { tabPath } from '../agent-page.ts'
import { costs, formForOwner, ofAgent, shownAgain } from '../guards.ts'
import { takeTurn } from '../once.ts'
import type { Workspace } from '../workspace.ts'
import { showKeys } from './keys.ts'
import { showOnce } from './shown-once.ts'

/** What is left empty is left out. */
const requestOf = ({ name, access, prefix, expiresAt }: Fields) =>
  validateBody(keyRequest, {
    name: name?.trim(),
    access,
    ...(prefix && { prefix }),
    ...(expiresAt && { expiresAt: `${expiresAt}T00:00:00Z` }),
  })

const MEANING =
  'Put it where whoever it is for reads its token. It is used as the agent’s own token is.'

export const newKeyForm = endpoint({
  operationId: 'consoleNewKey',
  method: 'POST',
  path: tabPath(':agent', 'keys'),
  params: ofAgent,
  guards: [...formForOwner, shownAgain(showKeys), ...costs('controls')],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'key_quota_reached',
    'form_sent_before',
  ],
  async handle(visit, workspace: Workspace) {
    const { identity, sent } = visit
    const request = requestOf(sent)
    await takeTurn(visit, workspace)
    const { key, token } = await makeKey(workspace, identity, request)
    const credential = { name: 'key-token', label: 'Token', value: token, meaning: MEANING }
    const heading = html`The new key “<bdi>${key.name}</bdi>”`
    return showOnce(visit, workspace, { title: 'New key', heading, credential })
  },
})

export const endKeyForm = endpoint({
  operationId: 'consoleEndKey',
  method: 'POST',
  path: `${tabPath(':agent', 'keys')}/end`,
  params: ofAgent,
  guards: [...formForOwner, ...costs('controls')],
  errors: [...WRITE_ERRORS, 'invalid_token', 'key_not_found'],
  async handle({ call, identity, sent: { id = '' } }, workspace: Workspace) {
    await dropKey(workspace, identity, id)
    return redirect(call, tabPath(identity.agentId, 'keys'))
  },
})
