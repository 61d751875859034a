/** The verbs that both engines run: reads, and writes in a transaction. */

import { type EntriesWanted, type EntrySummary, SHOWN_CHARS } from '../port/host.ts'
import { accountReads, accountWrites } from './accounts.ts'
import { activityReads } from './activity.ts'
import { agentReads, agentWrites } from './agents.ts'
import { branchReads } from './branches.ts'
import { controlWrites, eventWrites, type LogEvent } from './controls.ts'
import { deletedReads } from './deleted.ts'
import { type EventStatements, eventReads } from './event-pages.ts'
import { vectorWrites } from './kept-vectors.ts'
import { keyReads, keyUses, keyWrites, operatorWrites } from './keys.ts'
import { accessWrites, oauthReads, oauthWrites } from './oauth.ts'
import { othersReads } from './others.ts'
import { passkeyReads, passkeyWrites } from './passkeys.ts'
import { protectWrites } from './protect.ts'
import { sessionReads, sessionWrites } from './sessions.ts'
import { stateReads, type VersionStatements } from './states-before.ts'
import { ask, statement, type Verb } from './verb.ts'
import { erasureReads, readsOfVersions, type VersionReads } from './version-reads.ts'

/** Greater than any id. */
const END_OF_IDS = 'g'

const list = statement<EntrySummary>(`
  SELECT id, feed, room, substr(identity, 1, ${SHOWN_CHARS}) AS identity,
    substr(text, 1, ${SHOWN_CHARS}) AS text, bytes, created_at AS "createdAt"
  FROM entries WHERE id < $1 AND (CAST($2 AS TEXT) IS NULL OR feed = $2)
  ORDER BY id DESC LIMIT CAST($3 AS BIGINT)`)

/** Gateway entries as the host's owner sees them. */
const hostReads = {
  listEntries: ({ feed, before = END_OF_IDS, limit }: EntriesWanted) =>
    ask(list, before, feed, limit),
}

const beat = statement(`
  INSERT INTO heartbeat (id, written_at) VALUES (1, $1)
  ON CONFLICT (id) DO UPDATE SET written_at = excluded.written_at`)

const healthWrites = {
  /** A health check: a write that commits. */
  *checkWritable(now: number): Verb<void> {
    yield* ask(beat, now)
  },
}

const reads = {
  ...accountReads,
  ...activityReads,
  ...agentReads,
  ...hostReads,
  ...keyReads,
  ...branchReads,
  ...deletedReads,
  ...oauthReads,
  ...passkeyReads,
  ...sessionReads,
}

/** What each engine asks of its log. */
export interface LogStatements {
  readonly events: EventStatements
  readonly versions: VersionStatements
  readonly history: VersionReads
}

/** With those that read the log. */
export const allReads = (
  { events, versions, history }: LogStatements,
  /** Versions retained of a memory; 0: all. */
  most: number,
) => ({
  ...reads,
  ...eventReads(events),
  ...othersReads(events),
  ...stateReads(versions),
  ...readsOfVersions(history, most),
  ...erasureReads,
})

/** Verbs that change what a token may do. */
export const tokenWrites = (logEvent: LogEvent) => ({
  ...accessWrites(logEvent),
  ...controlWrites(logEvent),
  ...keyWrites(logEvent),
  ...operatorWrites(logEvent),
})

/** Verbs that log an event, and change neither a version nor what a token may do. */
export const loggedWrites = (logEvent: LogEvent) => ({
  ...eventWrites(logEvent),
  ...protectWrites(logEvent),
})

/** `maxBytes`: of a home. */
export const otherWrites = (maxBytes: number) => ({
  ...accountWrites,
  ...agentWrites,
  ...healthWrites,
  ...keyUses,
  ...oauthWrites,
  ...passkeyWrites,
  ...sessionWrites,
  ...vectorWrites(maxBytes),
})
