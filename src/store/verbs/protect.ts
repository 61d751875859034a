/** Memories that only the operator changes. */
import type { Identity } from '../port/identity.ts'
import type { ProtectAnswer } from '../port/memories.ts'
import { doneBy, type LogEvent, takeControl } from './controls.ts'
import { ask, statement, type Verb } from './verb.ts'

/** Before its memories, as every change does. */
const lockHome = statement('SELECT 1 FROM homes WHERE agent_id = $1 FOR UPDATE')

interface FoundRow {
  version: number
  deleted: boolean | number
  updated_at: number
  protected: boolean | number
}

const find = statement<FoundRow>(`
  SELECT version, deleted, updated_at, protected FROM memories
  WHERE agent_id = $1 AND key = $2`)

const mark = statement('UPDATE memories SET protected = $3 WHERE agent_id = $1 AND key = $2')

export const protectWrites = (logEvent: LogEvent) => ({
  *protectMemory(
    identity: Identity,
    key: string,
    isProtected: boolean,
    now: number,
  ): Verb<ProtectAnswer> {
    const refused = yield* takeControl(identity)
    if (refused) return refused
    const { agentId } = identity
    yield* ask(lockHome, agentId)
    const [found] = yield* ask(find, agentId, key)
    if (!found) return { outcome: 'missing' }
    const { version, updated_at: deletedAt } = found
    if (found.deleted) return { outcome: 'missing', deleted: { version, deletedAt } }
    if (Boolean(found.protected) !== isProtected) {
      yield* ask(mark, agentId, key, isProtected)
      yield* logEvent(doneBy(identity), isProtected ? 'protect' : 'unprotect', now, key)
    }
    return { outcome: 'done', version }
  },
})
