/** /console/agents/<id>/leave and …/erase: removes the agent from the account, or erases it. */
import { html } from 'hono/html'
import { eraseWhole } from '../../../home/profile.ts'
import type { Profile } from '../../../store/port/home.ts'
import { checkbox, fieldProblem, input } from '../../layout/fields.ts'
import { AGENTS, agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import { findAgent, tabPath } from '../agent-page.ts'
import { agentTwoStep } from '../two-step.ts'

export const leave = agentTwoStep({
  operationId: 'consoleLeave',
  below: 'leave',
  confirm: true,
  async view({ identity }, workspace, typed) {
    const agent = await findAgent(workspace, identity)
    return {
      agent,
      tab: 'settings',
      title: 'Leave',
      heading: html`Leave <bdi>${agent.profile.name}</bdi>`,
      about: html`<div class="note warn"><p><strong>It is no longer among your agents.</strong> It continues to work, and keeps all its memories. Anyone with its operator token can reach it, and can attach it to their own account.</p></div>`,
      fields: checkbox(
        {
          name: 'understood',
          label: 'I have its operator token, or do not need to reach it again.',
        },
        typed,
      ),
      button: 'Leave the agent',
      danger: true,
      cancel: tabPath(identity.agentId, 'settings'),
    }
  },
  async send({ session, identity, sent }, { sessions }) {
    if (sent.understood !== 'yes')
      throw fieldProblem('understood', 'must be ticked: only the token reaches the agent then')
    // Succeeds again if the form is sent twice.
    await sessions.leaveAgent(session.accountId, identity.agentId)
    return AGENTS
  },
})

/** A single-line field cannot hold line breaks, and kinds of space look the same. */
const asTyped = (text: string): string => text.replace(/\s+/g, ' ').trim()

function names(typed: string, { name, agentId }: Profile): boolean {
  const said = asTyped(typed)
  return said !== '' && [asTyped(name), agentId].includes(said)
}

export const eraseAgent = agentTwoStep({
  operationId: 'consoleEraseAgent',
  below: 'erase',
  confirm: true,
  async view({ identity }, workspace, typed) {
    const agent = await findAgent(workspace, identity)
    const { profile, memoryCount } = agent
    const { agentId, name } = profile
    return {
      agent,
      tab: 'settings',
      title: 'Erase',
      heading: html`Erase <bdi>${name}</bdi>`,
      about: html`<div class="note warn"><p><strong>This cannot be undone.</strong> The profile, ${plural(memoryCount, 'memory', 'memories')} with every version, its activity and all its keys are erased at once, for you, for the agent and for the operator of this service. Your account stays. To keep anything of it, <a href="${agentPath(agentId)}/export" download>download the export</a> first.</p></div>`,
      fields: input(
        { name: 'typed', label: 'Type the agent’s name', hint: `Or its id: ${agentId}` },
        typed,
      ),
      button: 'Erase the agent for good',
      danger: true,
      cancel: tabPath(agentId, 'settings'),
    }
  },
  async send({ identity, sent: { typed = '' } }, workspace) {
    const { profile } = await findAgent(workspace, identity)
    if (!names(typed, profile))
      throw fieldProblem('typed', 'must be the name as it stands above, or the id')
    await eraseWhole(workspace, identity, identity.agentId)
    return AGENTS
  },
})
