/** POST /console/agents/<id>/memories/undo: what was deleted comes back, as it was. */
import { redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { spendMore } from '../../../pipeline/guards/budget.ts'
import { again } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Change } from '../../../store/port/keeping/memories.ts'
import { agentPath } from '../../layout/paths.ts'
import { costs, formForOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { type Chosen, chosenIn } from './chosen.ts'
import { listingIn, listPath, memoryIn } from './listing.ts'
import { showListAgain } from './memories.ts'
import { changeTogether } from './together.ts'

const restoring = ({ key, version }: Chosen): Change => ({
  verb: 'restore',
  key,
  version,
  expectedVersion: 0,
})

/** What is stored is what was to come back: the form came twice. */
async function isBack({ store }: Workspace, identity: Identity, { key, version }: Chosen) {
  const [now, then] = await Promise.all([
    store.readMemory(identity, key),
    store.readVersion(identity, key, version),
  ])
  if (now.outcome !== 'found' || then.outcome !== 'found') return false
  return now.memory.text === then.memory.text && now.memory.metadata === then.memory.metadata
}

async function bringBack(
  workspace: Workspace,
  identity: Identity,
  chosen: readonly Chosen[],
): Promise<void> {
  try {
    await changeTogether(workspace, identity, chosen.map(restoring))
  } catch (error) {
    const back = await Promise.all(chosen.map((each) => isBack(workspace, identity, each)))
    if (!back.every(Boolean)) throw error
  }
}

export const undoForm = endpoint({
  operationId: 'consoleUndo',
  method: 'POST',
  path: `${agentPath(':agent')}/memories/undo`,
  params: ofAgent,
  guards: [...formForOwner, again(showListAgain), ...costs('writes')],
  errors: [...WRITE_ERRORS, 'invalid_body', 'invalid_token', 'batch_conflict'],
  async handle(visit, workspace: Workspace) {
    const { call, identity, sent } = visit
    const chosen = chosenIn(sent)
    await spendMore(visit, workspace, chosen.length - 1)
    await bringBack(workspace, identity, chosen)
    const listing = listingIn(sent.list)
    const [one, other] = chosen
    const { agentId } = identity
    const back = one && !other ? memoryIn(agentId, one.key, listing) : listPath(agentId, listing)
    return redirect(call, back)
  },
})
