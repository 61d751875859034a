/** Takes back what was done with many memories, where nothing was done to them since. */
import { refusal } from '../../../home/refusal.ts'
import { redirect } from '../../../http/call.ts'
import { spendAfter } from '../../../pipeline/guards/budget.ts'
import { ROWS_PER_LOOK } from '../../../store/port/events.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Change, Result } from '../../../store/port/memories.ts'
import { agentPath } from '../../layout/paths.ts'
import { plural } from '../../layout/words.ts'
import { agentForm } from '../endpoints.ts'
import type { Workspace } from '../workspace.ts'
import { type Action, actionIn, changes, type Known, VERBS, type Verb } from './action.ts'
import {
  changeMost,
  changeTogether,
  inBatches,
  isGone,
  leave,
  nothingChanged,
  readTogether,
  type Tally,
  wasWritten,
} from './bulk.ts'
import { type Chosen, chosenIn } from './chosen.ts'
import { type FormVisit, spendFor } from './forms.ts'
import { listingIn, listPath, memoryIn } from './listing.ts'
import { showDone, showListAgain } from './memories.ts'
import { setProtection } from './several.ts'

/** Of the log, read between two turns of others. */
const EVENTS_PER_PAGE = 500

interface Touched {
  readonly key: string
  /** Which the action made; 0 if it made none. */
  readonly version: number
}

/** The memories of the action’s events: of this type, by this operator, between two others. */
async function touchedBy(
  { store }: Workspace,
  identity: Identity,
  { after, to }: Action,
  verb: Verb,
): Promise<{ readonly touched: readonly Touched[]; readonly looked: number }> {
  const touched = new Map<string, number>()
  let looked = 0
  const query = { order: 'oldest', prefix: '', by: 'operator', limit: EVENTS_PER_PAGE } as const
  const type = changes[verb].event
  for (let next: number | undefined = after; next !== undefined && next < to; ) {
    const found = await store.listEvents(identity, { ...query, type, after: next })
    if (found.outcome !== 'page') throw refusal(found)
    for (const { id, key, version = 0, by } of found.events) {
      const isOurs = id <= to && by?.via === 'console' && by.account === identity.account
      if (isOurs && key !== undefined) touched.set(key, version)
    }
    next = found.next
    looked += found.looked
  }
  return { touched: [...touched].map(([key, version]) => ({ key, version })), looked }
}

/** The memory is restored already, because the form was sent twice. */
async function isBack({ store }: Workspace, identity: Identity, { key, version }: Chosen) {
  const now = await store.readMemory(identity, key)
  const then = await store.readVersion(identity, key, version)
  if (now.outcome !== 'found' || then.outcome !== 'found') return false
  return now.memory.text === then.memory.text && now.memory.metadata === then.memory.metadata
}

const versionOf = (found: Result | undefined): number | undefined =>
  found?.outcome === 'found' ? found.memory.version : undefined

const deletionOf = (found: Result | undefined): number | undefined =>
  found?.outcome === 'missing' ? found.deleted?.version : undefined

interface Undone {
  readonly workspace: Workspace
  readonly identity: Identity
  readonly touched: readonly Touched[]
  readonly tally: Tally
}

/** Where the newest version is the action’s own, the version before it becomes the next. */
async function restoreSome({ workspace, identity, touched, tally }: Undone): Promise<void> {
  const found = await readTogether(workspace, identity, touched)
  const restores: Change[] = []
  for (const [at, { key, version }] of touched.entries()) {
    const [now, gone] = [versionOf(found[at]), deletionOf(found[at])]
    const before = { key, version: version - 1 }
    if (gone === version) restores.push({ verb: 'restore', ...before, expectedVersion: 0 })
    else if (now === version) restores.push({ verb: 'restore', ...before, expectedVersion: now })
    else if (now === version + 1 && (await isBack(workspace, identity, before))) tally.already++
    else leave(tally, now === undefined ? isGone(key) : wasWritten(key))
  }
  await changeMost(workspace, identity, restores, tally)
}

function undoSome(verb: Verb, undone: Undone): Promise<void> {
  if (verb !== 'protect' && verb !== 'unprotect') return restoreSome(undone)
  return setProtection({ ...undone, chosen: undone.touched }, verb === 'unprotect')
}

/** Undefined if it cannot be taken back. */
const verbOf = ({ verb }: Action): Verb | undefined => VERBS.find((each) => each === verb)

const forgotten = (count: number): string =>
  `The events of ${plural(count, 'memory', 'memories')} are not kept any more.`

async function undoAction(
  visit: FormVisit,
  workspace: Workspace,
  { action, outcome }: Known,
  verb: Verb,
): Promise<Known> {
  const { identity } = visit
  const { touched, looked } = await touchedBy(workspace, identity, action, verb)
  await spendAfter(visit, workspace, Math.ceil(looked / ROWS_PER_LOOK) - 1)
  const lost = outcome.done - touched.length
  if (touched.length === 0) throw nothingChanged([forgotten(lost)])
  await spendFor(visit, workspace, touched.length)
  const undone = await inBatches(touched, (batch, tally) =>
    undoSome(verb, { workspace, identity, touched: batch, tally }),
  )
  const { done, already, left, reasons } = undone
  if (done + already === 0) throw nothingChanged(reasons)
  const back = { action: { verb: changes[verb].back, after: 0, to: 0 }, outcome: undone }
  if (lost <= 0) return back
  const all = {
    count: undone.count + lost,
    left: left + lost,
    forgotten: lost,
    reasons: [forgotten(lost), ...reasons],
  }
  return { ...back, outcome: { ...undone, ...all } }
}

const OF_ANOTHER = 'This Undo is of another sign-in.'

/** All of them, or none. */
async function bringBack(
  workspace: Workspace,
  identity: Identity,
  chosen: readonly Chosen[],
): Promise<void> {
  const restored = chosen.map((each) => ({ verb: 'restore', ...each, expectedVersion: 0 }) as const)
  try {
    await changeTogether(workspace, identity, restored)
  } catch (error) {
    for (const each of chosen) if (!(await isBack(workspace, identity, each))) throw error
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
    const known = actionIn(visit, sent.did)
    if (sent.did && !known) throw nothingChanged([OF_ANOTHER])
    const verb = known && verbOf(known.action)
    if (verb) return showDone(visit, workspace, await undoAction(visit, workspace, known, verb))
    const chosen = chosenIn(sent)
    await spendFor(visit, workspace, chosen.length)
    await bringBack(workspace, identity, chosen)
    const listing = listingIn(sent.list)
    const [one, other] = chosen
    const { agentId } = identity
    const back = one && !other ? memoryIn(agentId, one.key, listing) : listPath(agentId, listing)
    return redirect(call, back)
  },
})
