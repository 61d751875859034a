/** Homes that somebody changes with SQL, behind the service's back, as whoever owns the disk may. */
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { AgentHome } from 'agent-home-client'

interface Forgery {
  readonly name: string
  readonly sql: readonly string[]
  /** `fault: place`. */
  readonly faults: readonly string[]
  /** The keys that a verifier names. */
  readonly wrong: readonly string[]
}

interface Forgeries {
  readonly home: readonly (readonly [string, readonly (string | null)[]])[]
  readonly adjust: readonly string[]
  readonly forgeries: readonly Forgery[]
}

const file = new URL('forgeries.json', import.meta.url)
const { home: texts, adjust, forgeries } = JSON.parse(readFileSync(file, 'utf8')) as Forgeries

export { forgeries }

/** What is there before a forgery. */
export async function settle(home: AgentHome): Promise<void> {
  for (const [key, versions] of texts) {
    for (const [expectedVersion, text] of versions.entries()) {
      if (text === null) await home.delete(key, { expectedVersion })
      else await home.write(key, text, { expectedVersion })
    }
  }
}

export function forge(database: string, agentId: string, { sql }: Forgery): void {
  const db = new DatabaseSync(database)
  for (const each of [...sql, ...adjust]) db.prepare(each).run({ agent: agentId })
  db.close()
}
