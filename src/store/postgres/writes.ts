/** The home's writing verbs: one statement each, so that one round trip decides and commits. */
import type {
  AgentStatus,
  Identity,
  MemoryWrite,
  ProfileAnswer,
  Refused,
  WriteAnswer,
} from '../port/home.ts'
import { profileOf } from '../rows.ts'
import { changeStatus, rotateAgentToken } from './agents.ts'
import { type Connections, statement } from './engine/connections.ts'
import { createUnlessThere, update } from './memories.ts'
import type { HomeReads } from './reads.ts'

const beat = statement(
  'beat',
  `INSERT INTO heartbeat (id, written_at) VALUES (1, $1)
   ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at`,
)

export function homeWrites({ write: ask }: Connections, reads: HomeReads) {
  /** What stands in the way, looked at again; unless it no longer does. */
  async function conflict(
    identity: Identity,
    write: MemoryWrite,
  ): Promise<Refused | (WriteAnswer & { outcome: 'conflict' }) | undefined> {
    const found = await reads.readMemory(identity, write.key)
    if (found.outcome !== 'found' && found.outcome !== 'missing') return found
    const stored = found.outcome === 'found' ? found.memory : undefined
    const currentVersion = stored?.version ?? 0
    if (currentVersion === write.expectedVersion) return undefined
    const sameContent = stored?.text === write.text && stored.metadata === write.metadata
    return { outcome: 'conflict', currentVersion, updatedAt: stored?.updatedAt, sameContent }
  }

  async function writeMemory(
    identity: Identity,
    write: MemoryWrite,
    maxMemories: number,
    now: number,
  ): Promise<WriteAnswer> {
    const written =
      write.expectedVersion === 0
        ? await createUnlessThere(ask, identity, write, maxMemories, now)
        : await update(ask, identity, write, now)
    return (
      written ?? (await conflict(identity, write)) ?? writeMemory(identity, write, maxMemories, now)
    )
  }

  return {
    writeMemory,
    async setStatus(identity: Identity, status: AgentStatus, now: number): Promise<ProfileAnswer> {
      const { agentId, tokenHash } = identity
      const [row] = await ask(changeStatus, agentId, tokenHash, status, now)
      return row
        ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
        : { outcome: 'revoked' }
    },
    async rotateAgentToken({ agentId, tokenHash }: Identity, newTokenHash: string) {
      const [row] = await ask(rotateAgentToken, agentId, tokenHash, newTokenHash)
      return row ? ({ outcome: 'rotated' } as const) : ({ outcome: 'revoked' } as const)
    },
    async checkWritable(now: number): Promise<void> {
      await ask(beat, now)
    },
  }
}
