/** POST /console/agents/<id>/memory/restore: an earlier version comes back, under the present one. */

import type { Problem } from '../../../errors.ts'
import { findVersion } from '../../../home/memories/memory.ts'
import { carryOut, savedBy } from '../../../home/memories/verb.ts'
import { restore } from '../../../home/memories/verbs.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { agentPath } from '../../layout/paths.ts'
import { agentForm } from '../endpoints.ts'
import { listingIn, memoryIn } from '../memories/listing.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { showConflict } from './conflict.ts'
import { versionIn } from './editor.ts'
import { showMemory } from './memory.ts'

const requestOf = ({ sent }: Sent) =>
  validateBody(restore.schema, {
    key: sent.key,
    version: versionIn(sent.version),
    expectedVersion: versionIn(sent.expectedVersion),
  })

/** What came too late is compared as an edit is: the earlier text with what is stored. */
async function refuse(
  visit: AgentVisit & Sent,
  workspace: Workspace,
  refusal: Problem,
): Promise<Answer> {
  const { identity, sent } = visit
  const { key = '' } = sent
  const overwrites = refusal.code === 'version_conflict' && refusal.extras.members?.currentVersion
  const listing = listingIn(sent.list)
  if (!overwrites) return showMemory(visit, workspace, { key, listing }, { values: {}, refusal })
  const { text, metadata } = await findVersion(workspace, identity, key, Number(sent.version))
  return showConflict({ ...visit, sent: { ...sent, text, metadata } }, workspace, refusal)
}

export const restoreForm = agentForm({
  operationId: 'consoleRestore',
  path: `${agentPath(':agent')}/memory/restore`,
  budget: 'writes',
  refuse,
  errors: [
    'memory_not_found',
    'version_not_found',
    'version_gone',
    'version_conflict',
    'memory_quota_reached',
  ],
  async handle(visit, workspace) {
    const { call, identity, sent } = visit
    const { key } = savedBy(await carryOut(restore, workspace, identity, requestOf(visit), ''))
    return redirect(call, `${memoryIn(identity.agentId, key, listingIn(sent.list))}&saved`)
  },
})
