/** POST /console/agents/<id>/memories: what is done to one memory, or to several at once. */
import { z } from 'zod'
import { measured } from '../../../home/memories/content.ts'
import { findMemory } from '../../../home/memories/memory.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { spendMore } from '../../../pipeline/guards/budget.ts'
import { again, type Sent } from '../../../pipeline/guards/form.ts'
import { WRITE_ERRORS } from '../../../pipeline/problem.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Change } from '../../../store/port/keeping/memories.ts'
import { agentPath } from '../../layout/paths.ts'
import { costs, formForOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { type Chosen, chosenIn } from './chosen.ts'
import { listingIn, listPath, memoryIn } from './listing.ts'
import { showListAgain } from './memories.ts'
import { withPin } from './pin.ts'
import { changeTogether } from './together.ts'
import { afterDelete } from './undo-note.ts'

const asked = z.object({ do: z.enum(['delete', 'pin', 'unpin']), back: z.string().optional() })

const deleting = ({ key, version }: Chosen): Change => ({
  verb: 'delete',
  key,
  expectedVersion: version,
})

/** The version holds it to the metadata that were read. */
async function pinning(
  workspace: Workspace,
  identity: Identity,
  { key, version }: Chosen,
  pinned: boolean,
): Promise<Change> {
  const stored = await findMemory(workspace, identity, key)
  const metadata = withPin(stored.metadata, pinned)
  return measured({ verb: 'patch', key, metadata, expectedVersion: version })
}

/** From the memory's own page back to it, from the list back to the list. */
function wayBack(agentId: string, chosen: readonly Chosen[], sent: Sent['sent']): string {
  const listing = listingIn(sent.list)
  const [one] = chosen
  return sent.back === 'memory' && one
    ? memoryIn(agentId, one.key, listing)
    : listPath(agentId, listing)
}

export const severalForm = endpoint({
  operationId: 'consoleChange',
  method: 'POST',
  path: `${agentPath(':agent')}/memories`,
  params: ofAgent,
  guards: [...formForOwner, again(showListAgain), ...costs('writes')],
  errors: [
    ...WRITE_ERRORS,
    'invalid_body',
    'invalid_token',
    'memory_not_found',
    'batch_conflict',
    'metadata_too_large',
  ],
  async handle(visit, workspace: Workspace): Promise<Answer> {
    const { call, identity, sent } = visit
    const chosen = chosenIn(sent)
    const verb = validateBody(asked, { do: sent.do, back: sent.back }).do
    await spendMore(visit, workspace, chosen.length - 1)
    const { agentId } = identity
    if (verb === 'delete') {
      await changeTogether(workspace, identity, chosen.map(deleting))
      return redirect(call, afterDelete(agentId, chosen, listingIn(sent.list)))
    }
    const pins = chosen.map((each) => pinning(workspace, identity, each, verb === 'pin'))
    await changeTogether(workspace, identity, await Promise.all(pins))
    return redirect(call, wayBack(agentId, chosen, sent))
  },
})
