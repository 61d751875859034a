/** /console/agents/<id>/erase: the agent with all that it has, gone for good. */
import { html } from 'hono/html'
import { problem } from '../../../errors.ts'
import { eraseWhole } from '../../../home/erase-agent.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import type { Profile } from '../../../store/port/home.ts'
import { input, refusalNote, type Typed, untouched } from '../../layout/fields.ts'
import { agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import { proof, secondLook } from '../account/second-look.ts'
import { findAgent, showAgentPage, tabPath } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent, shownAgain } from '../guards.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'

const path = `${agentPath(':agent')}/erase`

async function show(visit: AgentVisit, workspace: Workspace, typed: Typed): Promise<Answer> {
  const agent = await findAgent(workspace, visit.identity)
  const { profile, memoryCount } = agent
  const { agentId, name } = profile
  const asked = await proof('password', visit, workspace, typed)
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'settings',
    scripts: ['passkey'],
    title: 'Erase',
    status: typed.refusal?.status ?? 200,
    body: html`<div class="narrow"><h1>Erase <bdi>${name}</bdi></h1>
${refusalNote(typed)}
<div class="note warn"><p><strong>Nothing brings it back.</strong> The profile, ${plural(memoryCount, 'memory', 'memories')} with every version, its activity and all keys are gone at once, for you, for the agent and for whoever runs this service. Your account stays. <a href="${agentPath(agentId)}/export" download>Download the export</a> first, if anything of it should be kept.</p></div>
<form method="post" action="${agentPath(agentId)}/erase" class="stack">
${input({ name: 'typed', label: 'The agent’s name, typed once more', hint: `Or its id: ${agentId}` }, typed)}
${asked}
<p class="actions"><button class="danger">Erase the agent for good</button>
<a class="button quiet" href="${tabPath(agentId, 'settings')}">Cancel</a></p>
</form></div>`,
  })
}

export const eraseAgentPage = endpoint({
  operationId: 'consoleEraseAgentPage',
  method: 'GET',
  path,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  errors: ['invalid_token'],
  handle: (visit, workspace: Workspace) => show(visit, workspace, untouched),
})

/** A field of one line holds no line end, and a person sees no difference between blanks. */
const asTyped = (text: string): string => text.replace(/\s+/g, ' ').trim()

function names(typed: string, { name, agentId }: Profile): boolean {
  const said = asTyped(typed)
  return said !== '' && [asTyped(name), agentId].includes(said)
}

const notNamed = () =>
  problem('invalid_body', {
    errors: [{ pointer: '/typed', message: 'must be the name as it stands above, or the id' }],
  })

export const eraseAgentForm = endpoint({
  operationId: 'consoleEraseAgent',
  method: 'POST',
  path,
  params: ofAgent,
  guards: [...formForOwner, shownAgain(show), ...costs('controls'), secondLook('password')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token'],
  async handle({ call, identity, sent: { typed = '' } }, workspace: Workspace) {
    const { profile } = await findAgent(workspace, identity)
    if (!names(typed, profile)) throw notNamed()
    await eraseWhole(workspace, identity, identity.agentId)
    return redirect(call, '/console')
  },
})
