/** An agent that keeps all that it may, and has a memory that it deleted. */
import { hashToken } from '../../src/pipeline/tokens.ts'
import type { Change } from '../../src/store/port/memories.ts'
import type { Born, TestService } from '../harness.ts'
import { newWrite } from '../store/fixture.ts'

const MEMORIES = 700

/** Settings under which it is full. */
export const FULL_AT = { MEMORIES_PER_AGENT: String(MEMORIES), BYTES_PER_AGENT: '1048576' }

/** So that all of them leave less room than one longest text needs. */
const TEXT = 'x'.repeat(1_490)

const writing = (key: string): Change => ({ verb: 'write', ...newWrite({ key, text: TEXT }) })

export async function openFull({ store, birth, now }: TestService): Promise<Born> {
  const born = await birth()
  const identity = await store.identify(hashToken(born.token))
  if (!identity) throw new Error('the agent is unknown')
  const changes: Change[] = [
    writing('gone'),
    { verb: 'delete', key: 'gone', expectedVersion: 1 },
    ...Array.from({ length: MEMORIES }, (_, n) => writing(`k${n}`)),
  ]
  const { outcome } = await store.changeMemories(identity, changes, now())
  if (outcome !== 'changed') throw new Error(`filling was answered by ${outcome}`)
  return born
}
