/** Memories as files: the text of one, or several as an export that can be imported. */
import { z } from 'zod'
import { EXPORT_FORMAT } from '../../../home/export.ts'
import { memoryJson } from '../../../home/memories/answers.ts'
import { findAt } from '../../../home/memories/memory.ts'
import { profileView } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { answer, type Call } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { spendMore } from '../../../pipeline/guards/budget.ts'
import { again } from '../../../pipeline/guards/form.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Change } from '../../../store/port/keeping/memories.ts'
import { iso } from '../../../time.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent } from '../agent-page.ts'
import { costs, formForOwner, forOwner, ofAgent } from '../guards.ts'
import type { Workspace } from '../workspace.ts'
import { type Chosen, chosenIn } from './chosen.ts'
import { showListAgain } from './memories.ts'

const attach = (call: Call, name: string): void => {
  call.responseHeaders['Content-Disposition'] = `attachment; filename="${name}"`
}

export const memoryDownload = endpoint({
  operationId: 'consoleDownload',
  method: 'GET',
  path: `${agentPath(':agent')}/memory/download`,
  params: ofAgent,
  guards: [...forOwner, ...costs('reads')],
  query: z.object({ key: memoryKey, version: queryInteger({ minimum: 1 }).optional() }),
  errors: ['invalid_token', 'memory_not_found', 'version_not_found', 'version_gone'],
  async handle({ call, identity, query: { key, version } }, workspace: Workspace) {
    const { text } = await findAt(workspace, identity, key, version)
    attach(call, `${key}.txt`)
    return answer(call, 200, text, 'text/plain; charset=utf-8')
  },
})

const reading = ({ key }: Chosen): Change => ({ verb: 'read', key })

/** As they are at one moment. What is gone by then is left out. */
async function readTogether(
  { store, clock }: Workspace,
  identity: Identity,
  chosen: readonly Chosen[],
) {
  const found = await store.changeMemories(identity, chosen.map(reading), clock())
  if (found.outcome === 'unchanged') throw new Error('reads were answered by faults')
  if (found.outcome !== 'changed') throw refusal(found)
  return found.results.flatMap((result) => (result.outcome === 'found' ? [result.memory] : []))
}

export const severalDownload = endpoint({
  operationId: 'consoleDownloadSeveral',
  method: 'POST',
  path: `${agentPath(':agent')}/memories/download`,
  params: ofAgent,
  guards: [...formForOwner, again(showListAgain), ...costs('reads')],
  errors: ['invalid_body', 'invalid_token', 'overloaded'],
  async handle(visit, workspace: Workspace) {
    const { call, identity, sent } = visit
    const chosen = chosenIn(sent)
    await spendMore(visit, workspace, chosen.length - 1)
    const { profile } = await findAgent(workspace, identity)
    const memories = await readTogether(workspace, identity, chosen)
    const exportedAt = iso(workspace.clock())
    const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt }
    const counted = JSON.stringify({ ...head, memoryCount: memories.length }).slice(0, -1)
    attach(call, `${memories.length}-memories-${exportedAt.slice(0, 10)}.json`)
    return answer(call, 200, `${counted},"memories":[${memories.map(memoryJson).join(',')}]}`)
  },
})
