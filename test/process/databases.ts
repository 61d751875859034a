/** Where a process of the program keeps its data, on each engine, and a look into it from beside. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { freshDatabase } from './nodes.ts'
import { freshDirectory } from './program.ts'

export type Row = Readonly<Record<string, unknown>>

export interface Keeping {
  /** For `serve`, of each process that goes on with it. */
  readonly directory: string
  readonly env: Readonly<Record<string, string>>
  /** Beside the process, or once it has ended. */
  readonly ask: (sql: string) => Promise<readonly Row[]>
  /** Of every table. */
  readonly tables: () => Promise<readonly string[]>
}

const namesOf = (rows: readonly Row[]): string[] => rows.map(({ name }) => String(name))

function embedded(): Keeping {
  const directory = freshDirectory()
  const ask = async (sql: string) => {
    const db = new DatabaseSync(join(directory, 'data', 'home.db'), { readOnly: true })
    try {
      return db.prepare(sql).all()
    } finally {
      db.close()
    }
  }
  const all = "SELECT name FROM sqlite_schema WHERE type = 'table'"
  return { directory, env: {}, ask, tables: async () => namesOf(await ask(all)) }
}

/** To be dropped with `dropDatabases`, once the processes are gone. */
async function scaledOut(): Promise<Keeping> {
  const { url } = await freshDatabase()
  // Its one connection ends with the database.
  const beside = new pg.Pool({ connectionString: url, max: 1 }).on('error', () => {})
  const ask = async (sql: string) => (await beside.query<Row>(sql)).rows
  const all = "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
  const env = { DATABASE_URL: url }
  return { directory: freshDirectory(), env, ask, tables: async () => namesOf(await ask(all)) }
}

export const keepings = {
  sqlite: async (): Promise<Keeping> => embedded(),
  postgres: scaledOut,
} as const

export type EngineName = keyof typeof keepings

/** The number that a statement answers. */
export async function numberOf({ ask }: Keeping, sql: string): Promise<number> {
  const [row = {}] = await ask(sql)
  return Number(Object.values(row)[0])
}

/** Waits until a statement answers at least so many. Throws where the work is over before. */
export async function reaches(
  keeping: Keeping,
  sql: string,
  least: number,
  work: Promise<unknown>,
): Promise<void> {
  let isOver = false
  const noticed = work.finally(() => {
    isOver = true
  })
  noticed.catch(() => {})
  while ((await numberOf(keeping, sql)) < least) {
    if (isOver) throw new Error('the work was over before it was met: it must be larger')
    await pause(1)
  }
}
