/** Answers that every engine builds in the same way. */

import { type EventsAnswer, type HomeEvent, type Link, ROWS_PER_LOOK } from './port/events.ts'
import type { BirthCount, BirthLimits } from './port/home.ts'
import type { AgentStatus, Author, Identity, Refused, TokenKind } from './port/identity.ts'
import type { ChangesAnswer, Conflict, Deleted, Memory, WriteAnswer } from './port/memories.ts'

type Content = Pick<Memory, 'text' | 'metadata'>

/** Why a credential may not act now; undefined if it may. */
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

/**
 * The conflict of a write that expected another version. Without `sent`, contents are not compared.
 * Different metadata may have the same value: `comparing` finds out.
 */
export function conflictWith(
  stored: (Pick<Memory, 'version' | 'updatedAt'> & Partial<Content>) | undefined,
  sent?: Content,
  deleted?: Deleted,
): Conflict {
  const { version: currentVersion = 0, updatedAt, text, metadata = '{}' } = stored ?? {}
  const facts = { outcome: 'conflict', currentVersion, updatedAt, deleted } as const
  if (sent === undefined || text !== sent.text) return { ...facts, sameContent: false }
  const sameContent = metadata === sent.metadata
  return { ...facts, sameContent, ...(!sameContent && { metadata: [metadata, sent.metadata] }) }
}

/** The answer of a single write. It cannot have the outcomes that only a batch has. */
export function writeAnswerOf(answer: ChangesAnswer): WriteAnswer {
  if (answer.outcome === 'changed') return answer.results[0] as WriteAnswer
  if (answer.outcome === 'unchanged') return answer.faults[0]?.fault as WriteAnswer
  return answer
}

/** The owner of the host acts as the operator, without a credential. */
export const BY_HOST: Author = { as: 'operator', via: 'host' }

/** The author, as stored with the change. */
export const authorOf = ({ kind, via = 'api', account, key, run }: Identity): Author => ({
  as: kind,
  via,
  ...(account !== undefined && { account }),
  ...(key && { key: { id: key.id, name: key.name } }),
  ...(run !== undefined && { run }),
})

/** The ids of the retained events. */
interface Log {
  readonly first: number
  readonly last: number
}

/** The rows with `after < id <= until`. */
export interface Look {
  readonly after: number
  readonly until: number
  readonly limit: number
  readonly prefix: string
}

export function lookAfter(id: number, { first, last }: Log, limit: number, prefix: string): Look {
  const after = Math.min(Math.max(id, first - 1), last)
  const until = prefix === '' ? last : Math.min(after + ROWS_PER_LOOK, last)
  return { after, until, limit, prefix }
}

/** `id`: the cursor. */
export function eventsAnswer(
  events: readonly HomeEvent[],
  id: number,
  { first, last }: Log,
  { after, until, limit }: Look,
  previous: Link | undefined,
): EventsAnswer {
  const reached = events.length === limit ? (events.at(-1)?.id ?? until) : until
  const missed = id + 1 < first || id > last
  const looked = Math.max(0, reached - after)
  const found = { events, previous, last, newest: last, first, reached, missed, looked }
  return { outcome: 'events', ...found }
}
