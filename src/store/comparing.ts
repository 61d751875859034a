/** Whether a conflict is none: the stored content equals what was sent. */
import { sameValue } from '../json/same-value.ts'
import { nextTurn } from '../turns.ts'
import type { ChangeError, Conflict, MemoryStore } from './port/memories.ts'

/** Comparing takes about a millisecond, and a batch has a hundred: others have a turn after each. */
async function compared({ metadata, ...conflict }: Conflict): Promise<Conflict> {
  if (!metadata) return conflict
  await nextTurn()
  return { ...conflict, sameContent: sameValue(...metadata) }
}

type Verbs = Pick<MemoryStore, 'writeMemory' | 'changeMemories'>

/** Compares metadata by value outside the transaction, where it holds nobody up. */
export const comparing = ({ writeMemory, changeMemories }: Verbs): Verbs => ({
  async writeMemory(...write) {
    const answer = await writeMemory(...write)
    return answer.outcome === 'conflict' ? compared(answer) : answer
  },
  async changeMemories(...changes) {
    const answer = await changeMemories(...changes)
    if (answer.outcome !== 'unchanged') return answer
    const faults: { at: number; fault: ChangeError }[] = []
    for (const { at, fault } of answer.faults) {
      faults.push({ at, fault: fault.outcome === 'conflict' ? await compared(fault) : fault })
    }
    return { ...answer, faults }
  },
})
