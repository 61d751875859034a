/** The scope of a named key: the memories under its prefix. */
import { type Problem, problem } from '../errors.ts'
import type { EventsQuery } from '../store/port/events.ts'
import type { Identity, KeyBounds } from '../store/port/identity.ts'
import type { Change, MemoriesQuery } from '../store/port/memories.ts'

/** Why reads and writes of a named key may be refused. */
export const KEY_READ_ERRORS = ['key_out_of_reach'] as const
export const KEY_WRITE_ERRORS = ['key_out_of_reach', 'key_read_only'] as const

const outOfReach = ({ prefix }: KeyBounds): Problem =>
  problem('key_out_of_reach', {
    detail: `This named key grants access only to memories whose keys start with "${prefix}". Use such a memory key, or ask the operator for a named key with wider access.`,
    members: { prefix },
  })

export const prefixOf = ({ key }: Identity): string => key?.prefix ?? ''

export const readingRefused = ({ key }: Identity, ...keys: readonly string[]) =>
  key && !keys.every((each) => each.startsWith(key.prefix)) ? outOfReach(key) : undefined

export const writingRefused = (identity: Identity, ...keys: readonly string[]) =>
  identity.key?.access === 'read' ? problem('key_read_only') : readingRefused(identity, ...keys)

const keysOf = (change: Change): readonly string[] =>
  change.verb === 'rename' ? [change.from, change.to] : [change.key]

/** Of a batch: one change outside the scope refuses all. */
export function changesRefused(identity: Identity, changes: readonly Change[]) {
  const keys = changes.flatMap(keysOf)
  const areReads = changes.every(({ verb }) => verb === 'read')
  return areReads ? readingRefused(identity, ...keys) : writingRefused(identity, ...keys)
}

/** Queries by prefix. */
export type Prefixed = Pick<MemoriesQuery, 'prefix'>

/** A prefix outside the key's scope, where nothing would be found. */
export function listRefused({ key }: Identity, { prefix }: Prefixed) {
  if (!key || prefix.startsWith(key.prefix) || key.prefix.startsWith(prefix)) return undefined
  return outOfReach(key)
}

/** What shows something of every memory. */
export const wholeHomeRefused = ({ key }: Identity) =>
  key && key.prefix !== '' ? outOfReach(key) : undefined

/** Of a memory, or of those with a prefix. */
export const eventsRefused = (identity: Identity, { key, prefix }: EventsQuery) =>
  key === undefined ? listRefused(identity, { prefix }) : readingRefused(identity, key)

/** The longer prefix, if both apply. */
export const narrowed = <Query extends Prefixed>(identity: Identity, query: Query): Query =>
  prefixOf(identity).length > query.prefix.length ? { ...query, prefix: prefixOf(identity) } : query
