/** /console/attach: adds an agent that was created without an account, by its operator token. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import type { Call } from '../../../http/call.ts'
import { failAuthentication } from '../../../pipeline/failures.ts'
import { identify } from '../../../pipeline/guards/bearer.ts'
import { hashToken } from '../../../pipeline/tokens.ts'
import type { Identity } from '../../../store/port/home.ts'
import { input } from '../../layout/fields.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { accountTwoStep } from '../two-step.ts'
import type { Workspace } from '../workspace.ts'

/** Throws `invalid_token`, counted against the address, or `insufficient_scope`. */
async function operatorOf(call: Call, workspace: Workspace, token: string): Promise<Identity> {
  const known = await identify(token, hashToken(token), workspace)
  if (!known) return failAuthentication(call, workspace, 'invalid_token')
  if (known.kind === 'operator') return known
  throw problem('insufficient_scope', {
    detail: 'This is the agent’s own token. Paste the operator token: it begins with aho_.',
  })
}

export const attach = accountTwoStep({
  operationId: 'consoleAttach',
  path: '/console/attach',
  errors: ['invalid_token', 'too_many_failures', 'insufficient_scope', 'attached_elsewhere'],
  view: (_visit, _workspace, typed) => ({
    title: 'Attach an agent',
    place: 'agents',
    trail: [{ name: 'Agents', path: AGENTS }],
    heading: html`Attach an agent`,
    lead: 'An agent that was created without an account joins yours by its operator token. Paste the token once: it stays valid, and is not stored.',
    fields: input(
      { name: 'token', label: 'Operator token', type: 'password', hint: 'It begins with aho_.' },
      typed,
    ),
    button: 'Attach',
    cancel: AGENTS,
  }),
  async send({ call, session, sent: { token = '' } }, workspace) {
    const operator = await operatorOf(call, workspace, token.trim())
    const { outcome } = await workspace.sessions.attachAgent(operator, session.accountId)
    if (outcome === 'revoked') throw problem('invalid_token')
    if (outcome === 'attached_elsewhere') throw problem('attached_elsewhere')
    return agentPath(operator.agentId)
  },
})
