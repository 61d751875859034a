/** A service whose names lead nowhere: no test asks the name servers of the machine. */
import type { Reach } from '../src/oauth/client-document.ts'

export const nowhere: Reach = { resolve: async () => [] }
