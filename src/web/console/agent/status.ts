/** POST /console/agents/<id>/status: pause the agent or set it active. */
import { statusChange } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { again } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { agentPath, consolePath } from '../../layout/paths.ts'
import { costs, formForOwner, ofAgent } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showAgent } from './overview.ts'

export const statusForm = endpoint({
  operationId: 'consoleStatus',
  method: 'POST',
  path: `${agentPath(':agent')}/status`,
  params: ofAgent,
  guards: [
    ...formForOwner,
    again((visit: AgentVisit, workspace: Workspace, refused) =>
      showAgent(visit, workspace, { values: {}, refusal: refused }),
    ),
    ...costs('controls'),
  ],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle({ call, identity, sent }, { store, clock }: Workspace) {
    const { status } = validateBody(statusChange, { status: sent.status })
    const changed = await store.setStatus(identity, status, clock())
    if (changed.outcome !== 'profile') throw refusal(changed)
    return redirect(call, consolePath(sent.back ?? '') ?? agentPath(identity.agentId))
  },
})
