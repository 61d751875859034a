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

interface Entry {
  readonly key: string
  readonly version: number
}

interface FileForgery {
  readonly name: string
  readonly entry: Entry & { readonly list: 'memories' | 'history' }
  readonly becomes: readonly object[]
  /** `fault: place`. */
  readonly faults: readonly string[]
}

interface Forgeries {
  readonly home: readonly (readonly [string, readonly (string | null)[]])[]
  readonly adjust: readonly string[]
  readonly forgeries: readonly Forgery[]
  readonly files: readonly FileForgery[]
}

const file = new URL('forgeries.json', import.meta.url)
const {
  home: texts,
  adjust,
  forgeries,
  files,
} = JSON.parse(readFileSync(file, 'utf8')) as Forgeries

export { files, forgeries }

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
  // The service writes too.
  const db = new DatabaseSync(database, { timeout: 10_000 })
  for (const each of [...sql, ...adjust]) db.prepare(each).run({ agent: agentId })
  db.close()
}

export function forgeFile(source: string, { entry, becomes }: FileForgery): string {
  const file = JSON.parse(source) as Record<'memories' | 'history', Entry[]>
  file[entry.list] = file[entry.list].flatMap((each) =>
    each.key === entry.key && each.version === entry.version
      ? becomes.map((forged) => ({ ...each, ...forged }))
      : each,
  )
  return JSON.stringify(file)
}
