/** The verbs that both engines run: reads, and writes in a transaction. */
import { accountReads, accountWrites } from './accounts.ts'
import { activityReads } from './activity.ts'
import { agentReads, agentWrites } from './agents.ts'
import { controlWrites, type LogEvent } from './controls.ts'
import { hostReads } from './host.ts'
import { keyReads, keyUses, keyWrites, operatorWrites } from './keys.ts'
import { passkeyReads, passkeyWrites } from './passkeys.ts'
import { sessionReads, sessionWrites } from './sessions.ts'

export const reads = {
  ...accountReads,
  ...activityReads,
  ...agentReads,
  ...hostReads,
  ...keyReads,
  ...passkeyReads,
  ...sessionReads,
}

/** Verbs that change what a token may do. */
export const tokenWrites = (logEvent: LogEvent) => ({
  ...controlWrites(logEvent),
  ...keyWrites(logEvent),
  ...operatorWrites(logEvent),
})

export const otherWrites = (logEvent: LogEvent) => ({
  ...accountWrites,
  ...agentWrites,
  ...keyUses,
  ...passkeyWrites,
  ...sessionWrites(logEvent),
})
