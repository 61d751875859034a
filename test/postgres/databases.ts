/** Databases that come and go on one server. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface Database {
  readonly name: string
  readonly url: string
  readonly drop: () => Promise<void>
}

async function administer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

function at(serverUrl: string, database: string): string {
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
    drop: () => administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

export const createTemplate = (serverUrl: string): Promise<Database> => create(serverUrl, '')

export const cloneDatabase = (serverUrl: string, template: string): Promise<Database> =>
  create(serverUrl, `TEMPLATE ${template}`)
