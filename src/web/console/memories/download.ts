/** Downloads: of one memory as text, and of several as an export of them. */
import { z } from 'zod'
import { EXPORT_FORMAT } from '../../../home/export.ts'
import { listedJson } from '../../../home/memories/answers.ts'
import { findAt } from '../../../home/memories/memory.ts'
import { profileView } from '../../../home/profile.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { answer, type Call } from '../../../http/call.ts'
import { spendMore } from '../../../pipeline/guards/budget.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { iso } from '../../../time.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { readTogether } from './bulk.ts'
import { findChosen } from './chosen.ts'
import { showListAgain } from './memories.ts'

const attach = (call: Call, name: string): void => {
  call.responseHeaders['Content-Disposition'] = `attachment; filename="${name}"`
}

export const memoryDownload = agentPage({
  operationId: 'consoleDownload',
  path: `${agentPath(':agent')}/memory/download`,
  query: z.object({ key: memoryKey, version: queryInteger({ minimum: 1 }).optional() }),
  errors: ['memory_not_found', 'version_not_found', 'version_gone'],
  async handle({ call, identity, query: { key, version } }, workspace) {
    const { text } = await findAt(workspace, identity, key, version)
    attach(call, `${key}.txt`)
    return answer(call, 200, text, 'text/plain; charset=utf-8')
  },
})

export const severalDownload = agentForm({
  operationId: 'consoleDownloadSeveral',
  path: `${agentPath(':agent')}/memories/download`,
  budget: 'reads',
  refuse: showListAgain,
  errors: ['overloaded'],
  async handle(visit, workspace) {
    const { call, identity } = visit
    const chosen = await findChosen(visit, workspace)
    await spendMore(visit, workspace, chosen.length - 1)
    const { profile } = await findAgent(workspace, identity)
    const found = await readTogether(workspace, identity, chosen)
    const memories = found.flatMap((each) => (each.outcome === 'found' ? [each.memory] : []))
    const exportedAt = iso(workspace.clock())
    const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt }
    const counted = JSON.stringify({ ...head, memoryCount: memories.length }).slice(0, -1)
    attach(call, `${memories.length}-memories-${exportedAt.slice(0, 10)}.json`)
    return answer(call, 200, `${counted},"memories":[${memories.map(listedJson).join(',')}]}`)
  },
})
