/** What cannot be used stops the start, and `agent-home doctor` says the same sentence of it. */
import { chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import type { Finding } from '../../src/store/port/check.ts'
import { OLDEST, SCHEMA, schemaOf } from '../../src/store/schema.ts'
import { at, createTemplate } from '../postgres/databases.ts'
import { dropDatabases, freshDatabase } from '../process/nodes.ts'
import { cleanUp, freshDirectory, type Launch, launch, serve } from '../process/program.ts'

const made: { readonly drop: () => Promise<void> }[] = []
afterAll(async () => {
  await cleanUp()
  await dropDatabases()
  for (const { drop } of made.toReversed()) await drop()
})

/** Permissions are for whoever is not root, or has put down what root may do. */
const PLAIN = ['setpriv', '--inh-caps=-all', '--bounding-set=-all']
const under = process.getuid?.() === 0 ? PLAIN : []

/** The one sentence or two of both. */
async function saidOf(options: Launch): Promise<string> {
  const given = { under, ...options }
  const started = await launch(given).ended
  expect(started).toMatchObject({ code: 1, stdout: '' })
  const lines = started.output.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  const examined = await launch({ ...given, args: ['doctor', '--json'] }).ended
  const { findings } = JSON.parse(examined.stdout) as { findings: Finding[] }
  const wrong = findings.filter(({ state }) => state === 'wrong').map(({ says }) => `${says}.`)
  expect(examined).toMatchObject({ code: 1, output: examined.stdout })
  expect(wrong).toContain(lines[0])
  return lines[0] ?? ''
}

/** What a service has left. */
async function left(): Promise<string> {
  const directory = freshDirectory()
  await (await serve({ directory })).kill('SIGTERM')
  return join(directory, 'data')
}

const of = (data: string): Launch => ({ directory: join(data, '..') })

test.concurrent('a data directory that is read-only', async () => {
  const data = await left()
  chmodSync(data, 0o500)
  const said = await saidOf(of(data))
  chmodSync(data, 0o700)
  expect(said).toMatch(/\/data cannot be written in\. Give it to the user of the service/)
})

test.concurrent('a directory that is read-only and empty, and one that would be made there', async () => {
  const directory = freshDirectory()
  chmodSync(directory, 0o500)
  const here = await saidOf({ directory, env: { DATABASE_URL: 'sqlite:home.db' } })
  const below = await saidOf({ directory, env: { DATABASE_URL: 'sqlite:a/b/home.db' } })
  chmodSync(directory, 0o700)
  expect(here).toMatch(/ cannot be written in\. /)
  expect(below).toBe(here)
})

test.concurrent.each(['home.db', 'home.db.lock'])(
  'a file of it that is read-only: %s',
  async (name) => {
    const data = await left()
    chmodSync(join(data, name), 0o400)
    const said = await saidOf(of(data))
    expect(said).toContain(
      `/${name} cannot be read and written. Give it to the user of the service`,
    )
  },
)

test.concurrent('a link to a place that cannot be written in', async () => {
  const [directory, closed] = [freshDirectory(), freshDirectory()]
  symlinkSync(join(closed, 'home.db'), join(directory, 'link.db'))
  chmodSync(closed, 0o500)
  const said = await saidOf({ directory, env: { DATABASE_URL: 'sqlite:link.db' } })
  chmodSync(closed, 0o700)
  expect(said).toContain(`${closed} cannot be written in`)
})

test.concurrent.each([
  ['a link to itself', 'loop.db', 'loop.db'],
  ['a link into a directory that is not there', 'missing/home.db', 'home.db'],
  ['a directory that is such a link', 'missing', 'data/home.db'],
  ['a directory that is a link to itself', 'data', 'data/home.db'],
])('%s', async (_, target, path) => {
  const directory = freshDirectory()
  const link = path.split('/')[0] ?? ''
  symlinkSync(target, join(directory, link))
  const said = await saidOf({ directory, env: { DATABASE_URL: `sqlite:${path}` } })
  expect(said).toContain(`/${link} is a link to a place that is not there. Make the directory`)
})

test.concurrent('an empty file and a link to a file yet to be made are none of these', async () => {
  const directory = freshDirectory()
  writeFileSync(join(directory, 'home.db'), '', { mode: 0o600 })
  symlinkSync('made.db', join(directory, 'link.db'))
  for (const env of [{ DATABASE_URL: 'sqlite:home.db' }, { DATABASE_URL: 'sqlite:link.db' }]) {
    expect(await launch({ directory, env, args: ['doctor'] }).ended).toMatchObject({ code: 0 })
    await (await serve({ directory, env })).kill('SIGTERM')
  }
})

test.concurrent.each([
  ['sqlite:.', / is not a file\. Check DATABASE_URL\./],
  ['sqlite:notes.txt', /notes\.txt cannot be used: file is not a database\. Check DATABASE_URL\./],
  ['sqlite:notes.txt/home.db', /notes\.txt is not a directory\. Check DATABASE_URL\./],
  ['sqlite:home.db?mode=ro', /takes no parameters after a \?\./],
])('a path that is none of a database: %s', async (DATABASE_URL, sentence) => {
  const directory = freshDirectory()
  writeFileSync(join(directory, 'notes.txt'), 'Buy milk. '.repeat(100))
  expect(await saidOf({ directory, env: { DATABASE_URL } })).toMatch(sentence)
})

test.concurrent.each([
  ['', 'CREATE TABLE notes (text TEXT)'],
  ['with a table of one of our names', 'CREATE TABLE accounts (name TEXT)'],
  ['that counts its schema as we did', 'CREATE TABLE notes (text TEXT); PRAGMA user_version = 4'],
])('a database of another program %s, which stays as it is', async (_, sql) => {
  const directory = freshDirectory()
  const file = join(directory, 'other.db')
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
  const before = readFileSync(file)
  expect(await saidOf({ directory, env: { DATABASE_URL: 'sqlite:other.db' } })).toMatch(
    /other\.db is not a database of Agent Home\. Check DATABASE_URL\.$/,
  )
  expect(readFileSync(file).equals(before)).toBe(true)
})

test.concurrent('an address that is not of this machine', async () => {
  const said = await saidOf({ directory: freshDirectory(), env: { HOST: '192.0.2.1' } })
  expect(said).toMatch(/^HOST is not an address of this machine/)
})

test.concurrent('a port that is held by what does not speak HTTP', async () => {
  const holder = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as { port: number }
  const said = await saidOf({ directory: freshDirectory(), env: { PORT: `${port}` } })
  holder.close()
  expect(said).toMatch(/^Port \d+ is in use\. Set PORT to another/)
})

test.concurrent.each([
  ['@127.0.0.1:1/home?sslmod=require', / has a parameter that is not supported: sslmod\./],
  ['@127.0.0.1:1/home?pool_max=ten', / has a parameter with a wrong value: pool_max must be /],
  ['@127.0.0.1:99999/home', /^The database's URL cannot be read\. It is postgres:/],
  ['@t@127.0.0.1:1/home', /^postgres:\/\/127\.0\.0\.1:1\/home cannot be used: connect/],
  ['@127.0.0.1:1/home', /^postgres:\/\/127\.0\.0\.1:1\/home cannot be used: connect ECONNREFUSED/],
])('a URL of a server that is wrong: %s', async (rest, sentence) => {
  const env = { DATABASE_URL: `postgres://me:s3cret${rest}` }
  const said = await saidOf({ directory: freshDirectory(), env })
  expect(said).toMatch(sentence)
  expect(said).not.toContain('s3cret')
})

async function ask(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const result = await client.query(sql)
  await client.end()
  return result
}

let roles = 0

/** The URL of a database for a role that may only sign in to the server. */
async function asRole(url: string): Promise<{ readonly url: string; readonly role: string }> {
  const [role, admin] = [`agent_home_${process.pid}_${roles++}`, inject('postgresUrl')]
  await ask(admin, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  made.push({ drop: async () => void (await ask(admin, `DROP ROLE ${role}`)) })
  const its = new URL(url)
  Object.assign(its, { username: role, password: 'secret' })
  return { url: its.href, role }
}

/** With no table yet. */
async function emptyDatabase(): Promise<string> {
  const database = await createTemplate(inject('postgresUrl'))
  made.push(database)
  return database.url
}

/** A database of another encoding; refill: with the tables that an earlier version has made there. */
async function encoded(encoding: string) {
  const [admin, name] = [inject('postgresUrl'), `agent_home_${encoding.toLowerCase()}`]
  await ask(
    admin,
    `CREATE DATABASE ${name} ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`,
  )
  made.push({ drop: async () => void (await ask(admin, `DROP DATABASE ${name} WITH (FORCE)`)) })
  const url = at(admin, name)
  const versions = `INSERT INTO schema_version (id, version, oldest) VALUES (1, ${SCHEMA}, ${OLDEST})`
  return { url, refill: () => ask(url, `${schemaOf('postgres')}; ${versions}`) }
}

const on = (DATABASE_URL: string): Launch => ({
  directory: freshDirectory(),
  env: { DATABASE_URL },
  under: [],
})

test('a role that may not create tables', async () => {
  const admin = await emptyDatabase()
  const { url, role } = await asRole(admin)
  await ask(admin, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC')
  expect(await saidOf(on(url))).toMatch(
    new RegExp(
      `^The role "${role}" may not create tables in the schema "public"\\. Make it the owner`,
    ),
  )
  await ask(admin, 'REVOKE ALL ON SCHEMA public FROM PUBLIC')
  expect(await saidOf(on(url))).toContain(`The role "${role}" may use no schema of its search path`)
})

test('a role that may not use the tables of another, and one that may only read', async () => {
  const { url: admin } = await freshDatabase()
  const { url, role } = await asRole(admin)
  expect(await saidOf(on(url))).toMatch(/ may not read and write all tables .*accounts, agents, /)
  await ask(
    admin,
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role};
    ALTER ROLE ${role} SET default_transaction_read_only = 'on'`,
  )
  expect(await saidOf(on(url))).toMatch(/ default_transaction_read_only is on\. Set it off/)
  await ask(admin, `DROP OWNED BY ${role}`)
})

test.each([
  ['that has a table of one of our names', 'CREATE TABLE homes (street TEXT)'],
  ['that has a view of one of our names', 'CREATE VIEW memories AS SELECT 1 AS id'],
  ['that counts its schema, too', 'CREATE TABLE schema_version (installed_rank INT)'],
])('a database of another program %s, which stays as it is', async (_, sql) => {
  const url = await emptyDatabase()
  await ask(url, sql)
  const name = / (\w+) (?:AS|\()/.exec(sql)?.[1]
  expect(await saidOf(on(url))).toContain(
    `it has tables of its own under names that Agent Home needs (${name}). Give Agent Home an empty`,
  )
  const { rows } = await ask(
    url,
    "SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace",
  )
  expect(rows).toHaveLength(1)
})

test('beside tables of other names there is room', async () => {
  const url = await emptyDatabase()
  await ask(url, 'CREATE TABLE notes (text TEXT)')
  await (await serve(on(url))).kill('SIGTERM')
})

test.each(['SQL_ASCII', 'LATIN1'])('a new database with the encoding %s', async (encoding) => {
  const { url, refill } = await encoded(encoding)
  const said = await saidOf(on(url))
  expect(said).toContain(`The encoding of the database is ${encoding}, which cannot hold every`)
  await refill()
  const service = await serve(on(url))
  await service.says(new RegExp(said.slice(0, 40)))
  await service.kill('SIGTERM')
  const examined = await launch({ ...on(url), args: ['doctor'] }).ended
  expect(examined).toMatchObject({ code: 0 })
  expect(examined.stdout).toContain(said.slice(0, -1))
})

test('a database that is not there', async () => {
  const missing = at(inject('postgresUrl'), 'agent_home_nowhere')
  expect(await saidOf(on(missing))).toMatch(/ cannot be used: database "agent_home_nowhere" /)
})

test('of what can be used, only the first start says that the database is new', async () => {
  const directory = freshDirectory()
  for (const env of [{}, { DATABASE_URL: await emptyDatabase() }]) {
    const first = await serve({ directory, env })
    await first.says(/"data":"[^"]+","msg":"the database is new, and empty"/)
    await first.kill('SIGTERM')
    const second = await (await serve({ directory, env })).kill('SIGTERM')
    expect(second.output).not.toContain('is new')
  }
})
