/** Changes of several memories, all of them or none, as a form asks for them. */
import { type Problem, problem } from '../../../errors.ts'
import { faultProblem } from '../../../home/memories/answers.ts'
import { refusal } from '../../../home/refusal.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Change, ChangeError } from '../../../store/port/keeping/memories.ts'
import { sentenceFor } from '../../layout/for-people.ts'
import type { Workspace } from '../workspace.ts'

/** A change that was made already is made: a form may arrive twice. */
function isDone(change: Change, fault: ChangeError): boolean {
  if (change.verb === 'delete') {
    return fault.outcome === 'missing' && fault.deleted?.version === change.expectedVersion + 1
  }
  return fault.outcome === 'conflict' && fault.sameContent
}

const keyOf = (change: Change): string => (change.verb === 'rename' ? change.from : change.key)

function sentenceOf(change: Change, fault: ChangeError): string {
  const key = keyOf(change)
  if (fault.outcome === 'missing') return `“${key}” is not there any more.`
  if (fault.outcome !== 'conflict') return `“${key}”: ${sentenceFor(faultProblem(fault))}`
  return fault.currentVersion === 0
    ? `“${key}” is not there any more.`
    : `“${key}” was written in the meantime.`
}

function conflictOf(
  faults: readonly { readonly change: Change; readonly fault: ChangeError }[],
): Problem {
  const sentences = faults.map(({ change, fault }) => sentenceOf(change, fault))
  return problem('batch_conflict', {
    detail: `Nothing was changed. ${sentences.join(' ')} Look at what is there now, and choose again.`,
  })
}

/** Throws `batch_conflict`, and what the operator is refused for. */
export async function changeTogether(
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
