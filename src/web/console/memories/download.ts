/** Downloads: of one memory as text, and of several as an export of them. */
import { z } from 'zod'
import { EXPORT_ERRORS, EXPORT_FORMAT } from '../../../home/export.ts'
import { listedJson } from '../../../home/memories/answers.ts'
import { findAt } from '../../../home/memories/memory.ts'
import { profileView } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { answer, type Call } from '../../../http/call.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import type { Identity } from '../../../store/port/identity.ts'
import { iso } from '../../../time.ts'
import { nextTurn } from '../../../turns.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import type { Workspace } from '../workspace.ts'
import { batchesOf, readTogether } from './bulk.ts'
import { type Chosen, findChosen } from './chosen.ts'
import { spendFor } from './forms.ts'
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

/** An export of these: read in batches between which others are served, each from one snapshot. */
async function* exportOf(
  workspace: Workspace,
  identity: Identity,
  chosen: readonly Chosen[],
  head: object,
): AsyncGenerator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  let memoryCount = 0
  for (const batch of batchesOf(chosen)) {
    const found = await readTogether(workspace, identity, batch)
    const memories = found.flatMap((each) => (each.outcome === 'found' ? [each.memory] : []))
    const text = memories.map(listedJson).join(',')
    yield memoryCount > 0 && text ? `,${text}` : text
    memoryCount += memories.length
    await nextTurn()
  }
  yield `],"memoryCount":${memoryCount}}`
}

/** The erasures before anything is read: one from then on ends the download, as it does an export. */
async function erasuresOf({ store }: Workspace, identity: Identity): Promise<number> {
  const counted = await store.countErasures(identity)
  if (counted.outcome !== 'erasures') throw refusal(counted)
  return counted.erasures
}

export const severalDownload = agentForm({
  operationId: 'consoleDownloadSeveral',
  path: `${agentPath(':agent')}/memories/download`,
  budget: 'reads',
  refuse: showListAgain,
  errors: ['overloaded', ...EXPORT_ERRORS],
  async handle(visit, workspace) {
    const { call, identity } = visit
    const chosen = await findChosen(visit, workspace)
    await spendFor(visit, workspace, chosen.length)
    const { profile } = await findAgent(workspace, identity)
    const exportedAt = iso(workspace.clock())
    const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt }
    const text = await workspace.exports.take(clientOf(call, workspace), identity, async () => ({
      erasures: await erasuresOf(workspace, identity),
      pieces: exportOf(workspace, identity, chosen, head),
      close: () => {},
    }))
    attach(call, `${chosen.length}-memories-${exportedAt.slice(0, 10)}.json`)
    return answer(call, 200, text)
  },
})
