/** Databases that come and go on one server. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface Database {
  readonly name: string
  readonly url: string
  /** The server's, brought up to date with what was committed. */
  readonly directory: () => Promise<string>
  readonly drop: () => Promise<void>
}

async function connected<T>(
  serverUrl: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const administer = async (serverUrl: string, sql: string): Promise<void> => {
  await connected(serverUrl, (client) => client.query(sql))
}

const flushedDirectory = (serverUrl: string): Promise<string> =>
  connected(serverUrl, async (client) => {
    await client.query('CHECKPOINT')
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    return rows[0]?.data_directory ?? ''
  })

/** The URL of another database there. */
export function at(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${database}`
  return url.href
}

async function create(serverUrl: string, clause: string): Promise<Database> {
  const name = `agent_home_test_${randomBytes(6).toString('hex')}`
  await administer(serverUrl, `CREATE DATABASE ${name} ${clause}`)
  return {
    name,
    url: at(serverUrl, name),
    directory: () => flushedDirectory(serverUrl),
    drop: () => administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

export const createTemplate = (serverUrl: string): Promise<Database> => create(serverUrl, '')

/** By its files: page by page through the log takes the server half as long again. */
export const cloneDatabase = (serverUrl: string, template: string): Promise<Database> =>
  create(serverUrl, `TEMPLATE ${template} STRATEGY FILE_COPY`)
