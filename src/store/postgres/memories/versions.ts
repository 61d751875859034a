/** What the verbs of both engines ask of this engine's log. */
import type { PlacedVersionRow } from '../../verbs/states-before.ts'
import { statement } from '../../verbs/verb.ts'
import type { LogStatements } from '../../verbs/verbs.ts'
import { versionReads } from '../../verbs/version-reads.ts'
import { broughtAsItWas } from './brought.ts'
import { EVENT, eventStatements } from './event-reads.ts'
import { chainOf, rowAt } from './log.ts'

/** A version and where it is. An event's number is its row's. */
const placed = statement<PlacedVersionRow>(`
  SELECT n, version, previous, operation, created_at, updated_at, n AS place,
    ${EVENT.type} AS event, ${broughtAsItWas('log')} AS brought
  FROM log WHERE agent_id = $1 AND n = $2 AND kept`)

export const logStatements: LogStatements = {
  events: eventStatements,
  versions: { at: placed, madeBy: placed },
  history: versionReads({
    chain: (most, last) => chainOf('m.key = $3', most, last),
    rowsIn: (list) => `SELECT l.* FROM ${list} s CROSS JOIN ${rowAt('$1', 's.n')} AS l`,
  }),
}
