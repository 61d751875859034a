/** Changes of many memories in batches that others' writes pass between: what was done, and what was not. */
import { type Problem, problem } from '../../../errors.ts'
import { faultProblem } from '../../../home/memories/answers.ts'
import { refusal } from '../../../home/refusal.ts'
import { explain } from '../../../pipeline/problem.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Change, ChangeError, Result } from '../../../store/port/memories.ts'
import { nextTurn } from '../../../turns.ts'
import { sentenceFor } from '../../layout/for-people.ts'
import type { Workspace } from '../workspace.ts'

/** Memories of a batch: as many as a batch of an agent may change. */
export const AT_ONCE = 100

export function* batchesOf<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += AT_ONCE) yield items.slice(at, at + AT_ONCE)
}

export interface Tally {
  done: number
  /** Nothing had to be done. */
  already: number
  /** Left as they are. */
  left: number
  /** Why the first of them were. */
  readonly reasons: string[]
}

const REASONS = 10

export function leave(tally: Tally, reason: string): void {
  tally.left++
  if (tally.reasons.length < REASONS) tally.reasons.push(reason)
}

export interface Outcome extends Readonly<Tally> {
  /** Of how many. */
  readonly count: number
  /** Of those that are left, whose events are not kept: the first reason is that of all of them. */
  readonly forgotten?: number
  /** What ended it before the last batch. */
  readonly stopped?: Problem
}

/** Each batch adds to the tally. An error ends the work; it is thrown only if nothing was done. */
export async function inBatches<T>(
  items: readonly T[],
  act: (batch: readonly T[], tally: Tally) => Promise<void>,
): Promise<Outcome> {
  const tally: Tally = { done: 0, already: 0, left: 0, reasons: [] }
  const count = items.length
  for (const batch of batchesOf(items)) {
    try {
      await act(batch, tally)
    } catch (error) {
      if (tally.done === 0) throw error
      return { ...tally, count, stopped: explain(error) }
    }
    await nextTurn()
  }
  return { ...tally, count }
}

/** The change was made already, because the form was sent twice. */
function isDone(change: Change, fault: ChangeError): boolean {
  if (change.verb === 'delete') {
    return fault.outcome === 'missing' && fault.deleted?.version === change.expectedVersion + 1
  }
  return fault.outcome === 'conflict' && fault.sameContent
}

export const isGone = (key: string): string => `“${key}” no longer exists.`

export const wasWritten = (key: string): string => `“${key}” was written in the meantime.`

export const wasRefused = (key: string, why: Problem): string =>
  `“${key}” was refused: ${sentenceFor(why)}`

function sentenceOf(change: Change, fault: ChangeError): string {
  const key = change.verb === 'rename' ? change.from : change.key
  if (fault.outcome === 'missing') return isGone(key)
  if (fault.outcome !== 'conflict') return wasRefused(key, faultProblem(fault))
  return fault.currentVersion === 0 ? isGone(key) : wasWritten(key)
}

export const nothingChanged = (sentences: readonly string[]): Problem =>
  problem('batch_conflict', {
    detail: `Nothing was changed. ${sentences.join(' ')} Check what is stored now, and choose again.`,
  })

/** What is in the way of each change that cannot be made; undefined once all are made. */
async function faultsOf(
  { store, clock }: Workspace,
  identity: Identity,
  changes: readonly Change[],
): Promise<ReadonlyMap<number, ChangeError> | undefined> {
  const answer = await store.changeMemories(identity, changes, clock())
  if (answer.outcome === 'changed') return undefined
  if (answer.outcome !== 'unchanged') throw refusal(answer)
  return new Map(answer.faults.map(({ at, fault }) => [at, fault]))
}

/** All or nothing. Throws `batch_conflict`, or the refusal of the operator. */
export async function changeTogether(
  workspace: Workspace,
  identity: Identity,
  changes: readonly Change[],
): Promise<void> {
  const faults = await faultsOf(workspace, identity, changes)
  if (!faults) return
  const faulty = changes.flatMap((change, at) => {
    const fault = faults.get(at)
    return fault ? [{ change, fault }] : []
  })
  const done = faulty.filter(({ change, fault }) => isDone(change, fault))
  if (done.length < changes.length)
    throw nothingChanged(faulty.map(({ change, fault }) => sentenceOf(change, fault)))
}

/** All that can be made of a batch. */
export async function changeMost(
  workspace: Workspace,
  identity: Identity,
  changes: readonly Change[],
  tally: Tally,
): Promise<void> {
  let rest = changes
  while (rest.length > 0) {
    const faults = await faultsOf(workspace, identity, rest)
    if (!faults) {
      tally.done += rest.length
      return
    }
    for (const [at, change] of rest.entries()) {
      const fault = faults.get(at)
      if (!fault) continue
      if (isDone(change, fault)) tally.already++
      else leave(tally, sentenceOf(change, fault))
    }
    rest = rest.filter((_, at) => !faults.has(at))
  }
}

/** From one snapshot, in order. */
export async function readTogether(
  { store, clock }: Workspace,
  identity: Identity,
  chosen: readonly { readonly key: string }[],
): Promise<readonly Result[]> {
  const reads = chosen.map(({ key }) => ({ verb: 'read', key }) as const)
  const found = await store.changeMemories(identity, reads, clock())
  if (found.outcome === 'unchanged') throw new Error('reads were answered by faults')
  if (found.outcome !== 'changed') throw refusal(found)
  return found.results
}
