/** What the console asks beside the home's verbs. */
import { accountReads, accountWrites } from './accounts.ts'
import { passkeyReads, passkeyWrites } from './passkeys.ts'
import { sessionReads, sessionWrites } from './sessions.ts'

export const consoleReads = { ...accountReads, ...passkeyReads, ...sessionReads }

export const consoleWrites = { ...accountWrites, ...passkeyWrites, ...sessionWrites }
