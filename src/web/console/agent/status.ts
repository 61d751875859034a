/** POST /console/agents/<id>/status: pause the agent or set it active. */
import { refusal } from '../../../home/endpoint.ts'
import { statusChange } from '../../../home/profile.ts'
import { spend } from '../../../pipeline/budgets.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { orAgain } from '../../layout/fields.ts'
import { type AgentVisit, agentForm, redirect } from '../route.ts'
import { showAgent } from './overview.ts'

/** Changes of status and key share the budget of the operator's token. */
export async function admitControl({ call, console, agent }: AgentVisit): Promise<void> {
  spend(call, await console.home.budgets.take('controls', agent.agentId))
}

export const statusForm = agentForm('consoleStatus', '/status', (sent, visit) =>
  orAgain(
    visit.call,
    async () => {
      const { call, console, agent } = visit
      const { status } = validateBody(statusChange, sent)
      await admitControl(visit)
      const changed = await console.home.store.setStatus(agent, status, console.home.clock())
      if (changed.outcome !== 'profile') throw refusal(changed)
      return redirect(call, `/console/agents/${agent.agentId}#controls`)
    },
    (refused) => showAgent(visit, { values: {}, refusal: refused }),
  ),
)
