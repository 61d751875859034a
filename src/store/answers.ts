/** What every engine answers where it found the same. */
import { sameValue } from '../json/same-value.ts'
import type {
  AgentStatus,
  BirthCount,
  BirthLimits,
  Memory,
  MemoryWrite,
  Refused,
  TokenKind,
  WriteAnswer,
} from './port/home.ts'

/** Why the bearer of a credential may not act now, if it may not. */
export function refusalOf(
  kind: TokenKind | null | undefined,
  status: AgentStatus | null | undefined,
): Refused | undefined {
  if (!kind) return { outcome: 'revoked' }
  return kind === 'agent' && status === 'paused' ? { outcome: 'paused' } : undefined
}

const reached = (births: number, limit: number): boolean => limit > 0 && births >= limit

export const overLimits = (count: BirthCount, limits: BirthLimits): boolean =>
  reached(count.fromAddress, limits.perAddress) ||
  reached(count.fromNetwork, limits.perNetwork) ||
  reached(count.inAll, limits.inAll)

/** What is there, for a writer that expected something else. */
export const conflictWith = (
  stored: Pick<Memory, 'text' | 'metadata' | 'version' | 'updatedAt'> | undefined,
  { text, metadata }: MemoryWrite,
): WriteAnswer & { outcome: 'conflict' } => ({
  outcome: 'conflict',
  currentVersion: stored?.version ?? 0,
  updatedAt: stored?.updatedAt,
  sameContent: stored?.text === text && sameValue(stored.metadata, metadata),
})
