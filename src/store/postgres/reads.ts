/** The home's reading verbs: one statement each, which also says whether the reader may. */
import type { Account, BirthCount, BirthRecord, Identity, ProfileAnswer } from '../port/home.ts'
import { profileOf } from '../rows.ts'
import { countBirths, findAccount, findBirth, readProfile, totals } from './agents.ts'
import type { Ask } from './engine/connections.ts'
import { identify } from './identities.ts'
import { readOne } from './memories.ts'

export const homeReads = (ask: Ask) => ({
  async identify(tokenHash: string): Promise<Identity | undefined> {
    const [row] = await ask(identify, tokenHash)
    return row && { agentId: row.agent_id, kind: row.kind, tokenHash, status: row.status }
  },
  async findBirth(keyHash: string): Promise<BirthRecord | undefined> {
    const [found] = await ask(findBirth, keyHash)
    return found
  },
  async countBirths(bornFrom: string, since: number): Promise<BirthCount> {
    const [row] = await ask(countBirths, bornFrom, since)
    return {
      fromAddress: row?.from_address ?? 0,
      inAll: row?.in_all ?? 0,
      oldestFromAddress: row?.oldest_from_address ?? undefined,
      oldestInAll: row?.oldest_in_all ?? undefined,
    }
  },
  async findAccount(email: string): Promise<Account | undefined> {
    const [found] = await ask(findAccount, email)
    return found
  },
  async readProfile({ agentId, tokenHash }: Identity): Promise<ProfileAnswer> {
    const [row] = await ask(readProfile, agentId, tokenHash)
    return row
      ? { outcome: 'profile', profile: profileOf(row), memoryCount: row.memory_count }
      : { outcome: 'revoked' }
  },
  readMemory: (identity: Identity, key: string) => readOne(ask, { identity, key }),
  async totals(): Promise<{ agents: number; memories: number }> {
    const [found] = await ask(totals)
    return found ?? { agents: 0, memories: 0 }
  },
})

export type HomeReads = ReturnType<typeof homeReads>
