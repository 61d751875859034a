/** The forms of the list: delete, pin, protect, undo and download, for one or several memories. */
import { z } from 'zod'
import { type Problem, problem } from '../../../errors.ts'
import { EXPORT_FORMAT } from '../../../home/export.ts'
import { faultProblem, listedJson } from '../../../home/memories/answers.ts'
import { measured } from '../../../home/memories/content.ts'
import { findAt, findMemory } from '../../../home/memories/memory.ts'
import { setProtected } from '../../../home/memories/operator.ts'
import { profileView } from '../../../home/profile.ts'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { answer, type Call, redirect } from '../../../http/call.ts'
import { membersOf } from '../../../json/members.ts'
import { spendMore } from '../../../pipeline/guards/budget.ts'
import type { Sent } from '../../../pipeline/guards/form.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Change, ChangeError } from '../../../store/port/keeping/memories.ts'
import { iso } from '../../../time.ts'
import { sentenceFor } from '../../layout/for-people.ts'
import { agentPath } from '../../layout/paths.ts'
import { findAgent } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import type { Workspace } from '../workspace.ts'
import { type Chosen, chosenIn, findChosen } from './chosen.ts'
import { listingIn, listPath, memoryIn } from './listing.ts'
import { afterDelete, showListAgain } from './memories.ts'

/** The change was made already, because the form was sent twice. */
function isDone(change: Change, fault: ChangeError): boolean {
  if (change.verb === 'delete') {
    return fault.outcome === 'missing' && fault.deleted?.version === change.expectedVersion + 1
  }
  return fault.outcome === 'conflict' && fault.sameContent
}

function sentenceOf(change: Change, fault: ChangeError): string {
  const key = change.verb === 'rename' ? change.from : change.key
  const isConflict = fault.outcome === 'conflict'
  if (fault.outcome === 'missing' || (isConflict && fault.currentVersion === 0))
    return `“${key}” is not there any more.`
  return `“${key}” ${isConflict ? 'was written in the meantime.' : `was refused: ${sentenceFor(faultProblem(fault))}`}`
}

function conflictOf(
  faults: readonly { readonly change: Change; readonly fault: ChangeError }[],
): Problem {
  const sentences = faults.map(({ change, fault }) => sentenceOf(change, fault))
  return problem('batch_conflict', {
    detail: `Nothing was changed. ${sentences.join(' ')} Look at what is there now, and choose again.`,
  })
}

/** All or nothing. Throws `batch_conflict`, or the refusal of the operator. */
async function changeTogether(
  { store, clock }: Workspace,
  identity: Identity,
  changes: readonly Change[],
): Promise<void> {
  const answer = await store.changeMemories(identity, changes, clock())
  if (answer.outcome === 'changed') return
  if (answer.outcome !== 'unchanged') throw refusal(answer)
  const faults = answer.faults.flatMap(({ at, fault }) => {
    const change = changes[at]
    return change ? [{ change, fault }] : []
  })
  const done = faults.filter(({ change, fault }) => isDone(change, fault))
  if (done.length < changes.length) throw conflictOf(faults)
}

/** The metadata with or without the pin. */
export function withPin(metadata: string, pinned: boolean): string {
  const members = new Map(membersOf(metadata))
  if (pinned) members.set('pinned', 'true')
  else members.delete('pinned')
  const written = [...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  return `{${written.join(',')}}`
}

const asked = z.object({
  do: z.enum(['delete', 'pin', 'unpin', 'protect', 'unprotect']),
  back: z.string().optional(),
})

/** The expected version ensures that the metadata is still the one that was read. */
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

/** Back to the page with the form: the memory's own, or the list. */
function wayBack(agentId: string, chosen: readonly Chosen[], sent: Sent['sent']): string {
  const listing = listingIn(sent.list)
  const [one] = chosen
  return sent.back === 'memory' && one
    ? memoryIn(agentId, one.key, listing)
    : listPath(agentId, listing)
}

export const severalForm = agentForm({
  operationId: 'consoleChange',
  path: `${agentPath(':agent')}/memories`,
  budget: 'writes',
  refuse: showListAgain,
  errors: ['memory_not_found', 'batch_conflict', 'metadata_too_large', 'overloaded'],
  async handle(visit, workspace) {
    const { call, identity, sent } = visit
    const chosen = await findChosen(visit, workspace)
    const verb = validateBody(asked, { do: sent.do, back: sent.back }).do
    await spendMore(visit, workspace, chosen.length - 1)
    const { agentId } = identity
    if (verb === 'delete') {
      await changeTogether(
        workspace,
        identity,
        chosen.map(({ key, version }) => ({ verb, key, expectedVersion: version })),
      )
      return redirect(call, afterDelete(agentId, chosen, listingIn(sent.list)))
    }
    if (verb === 'protect' || verb === 'unprotect') {
      for (const { key } of chosen) await setProtected(workspace, identity, key, verb === 'protect')
      return redirect(call, wayBack(agentId, chosen, sent))
    }
    const pins = chosen.map((each) => pinning(workspace, identity, each, verb === 'pin'))
    await changeTogether(workspace, identity, await Promise.all(pins))
    return redirect(call, wayBack(agentId, chosen, sent))
  },
})

/** The memory is restored already, because the form was sent twice. */
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
  const restored = chosen.map((each) => ({ verb: 'restore', ...each, expectedVersion: 0 }) as const)
  try {
    await changeTogether(workspace, identity, restored)
  } catch (error) {
    const back = await Promise.all(chosen.map((each) => isBack(workspace, identity, each)))
    if (!back.every(Boolean)) throw error
  }
}

export const undoForm = agentForm({
  operationId: 'consoleUndo',
  path: `${agentPath(':agent')}/memories/undo`,
  budget: 'writes',
  refuse: showListAgain,
  errors: ['batch_conflict'],
  async handle(visit, workspace) {
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

/** From one snapshot, without those that are gone. */
async function readTogether(
  { store, clock }: Workspace,
  identity: Identity,
  chosen: readonly Chosen[],
) {
  const reads = chosen.map(({ key }) => ({ verb: 'read', key }) as const)
  const found = await store.changeMemories(identity, reads, clock())
  if (found.outcome === 'unchanged') throw new Error('reads were answered by faults')
  if (found.outcome !== 'changed') throw refusal(found)
  return found.results.flatMap((result) => (result.outcome === 'found' ? [result.memory] : []))
}

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
    const memories = await readTogether(workspace, identity, chosen)
    const exportedAt = iso(workspace.clock())
    const head = { format: EXPORT_FORMAT, agent: profileView(profile), exportedAt }
    const counted = JSON.stringify({ ...head, memoryCount: memories.length }).slice(0, -1)
    attach(call, `${memories.length}-memories-${exportedAt.slice(0, 10)}.json`)
    return answer(call, 200, `${counted},"memories":[${memories.map(listedJson).join(',')}]}`)
  },
})
