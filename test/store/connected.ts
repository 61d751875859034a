/** A database as SQL alone sees it, beside a store that uses it. */
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import type { TestDatabase } from '../harness.ts'

export type Rows = readonly Readonly<Record<string, unknown>>[]

export interface Asked {
  readonly ask: (sql: string) => Promise<Rows>
  readonly end: () => Promise<void>
}

export async function connect({ url }: TestDatabase): Promise<Asked> {
  if (url.startsWith('sqlite:')) {
    const db = new DatabaseSync(url.replace('sqlite:', ''))
    const ask = async (sql: string) => db.prepare(sql).all() as Rows
    return { ask, end: async () => db.close() }
  }
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const ask = async (sql: string) => (await client.query(sql)).rows as Rows
  return { ask, end: () => client.end() }
}
