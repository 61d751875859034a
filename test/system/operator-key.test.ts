/** `agent-home operator-key`: the host's owner gives an agent another operator token. */
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lockProcesses } from '../../src/store/sqlite/engine/lock.ts'
import { birthBody, freshKey } from '../harness.ts'
import { birth, type Tokens, writeMemory } from '../process/calls.ts'
import { dropDatabases } from '../process/nodes.ts'
import { onFile, onServer, places } from '../process/places.ts'
import { cleanUp, freshDirectory, type Launch, launch, serve } from '../process/program.ts'

afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const operatorKey = (options: Launch, ...args: string[]) =>
  launch({ ...options, args: ['operator-key', '--yes', ...args] }).ended

const NOBODY = '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d'

const TOKEN_ALONE = /^aho_[0-9A-Za-z]{49}\n$/

/** The new token, of a run that went well. */
async function renew(options: Launch, agentId: string): Promise<string> {
  const { code, stdout, output } = await operatorKey(options, agentId)
  expect({ code, output }).toMatchObject({
    code: 0,
    output: expect.stringContaining('no longer works'),
  })
  expect(stdout).toMatch(TOKEN_ALONE)
  return stdout.trim()
}

const ask = (url: string, token: string, path = '', body?: object) =>
  fetch(`${url}/api/agents/me${path}`, {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { method: 'PATCH', body: JSON.stringify(body) }),
  })

const statusOf = async (url: string, token: string): Promise<number> =>
  (await ask(url, token)).status

async function lastEvent(url: string, token: string): Promise<unknown> {
  const { events } = (await (await ask(url, token, '/events')).json()) as { events: unknown[] }
  return events.at(-1)
}

describe.concurrent.each(places)('on $name', ({ place }) => {
  test('while the service runs, the old token is void at once and the new one stands', async () => {
    const options = await place()
    const server = await serve(options)
    const born = await birth(server.url)
    expect(await statusOf(server.url, born.operator_token)).toBe(200)
    const token = await renew(options, born.agent_id)
    expect(await statusOf(server.url, born.operator_token)).toBe(401)
    expect((await ask(server.url, token, '', { status: 'paused' })).status).toBe(200)
    expect((await ask(server.url, token, '', { status: 'active' })).status).toBe(200)
    await writeMemory(server.url, born.token, { key: 'plan', text: 'x', expectedVersion: 0 })
    const again = await renew(options, born.agent_id)
    expect([await statusOf(server.url, token), await statusOf(server.url, again)]).toEqual([
      401, 200,
    ])
    expect(await lastEvent(server.url, again)).toMatchObject({
      type: 'replace_operator_key',
      by: { as: 'operator', via: 'host' },
    })
    expect((await server.kill('SIGTERM')).output).not.toContain(again)
  })

  test('while it does not run, it works on the data', async () => {
    const options = await place()
    const first = await serve(options)
    const headers = { 'idempotency-key': freshKey(), 'content-type': 'application/json' }
    const body = JSON.stringify(birthBody)
    const bear = (url: string) =>
      fetch(`${url}/api/agents/birth`, { method: 'POST', headers, body })
    const born = (await (await bear(first.url)).json()) as Tokens
    await first.kill('SIGTERM')
    const token = await renew(options, born.agent_id.toUpperCase())
    const { url } = await serve(options)
    expect(await statusOf(url, born.operator_token)).toBe(401)
    expect([await statusOf(url, token), await statusOf(url, born.token)]).toEqual([200, 200])
    expect(await (await bear(url)).json()).toMatchObject({ code: 'credentials_rotated' })
  })

  test('an agent that is not there is named, with the place, and nothing is printed', async () => {
    const options = await place()
    await serve(options)
    const { code, stdout, output } = await operatorKey(options, NOBODY)
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' })
    expect(output).toMatch(new RegExp(`^No agent ${NOBODY} in .+\\.\n$`))
    expect(output).not.toContain('secret')
  })
})

test.concurrent('every node of several knows at once', async () => {
  const options = await onServer()
  const nodes = [await serve(options), await serve({ ...options, directory: freshDirectory() })]
  const [{ url } = { url: '' }] = nodes
  const born = await birth(url)
  const statuses = (token: string) => Promise.all(nodes.map((node) => statusOf(node.url, token)))
  expect(await statuses(born.operator_token)).toEqual([200, 200])
  const token = await renew(options, born.agent_id)
  expect(await statuses(born.operator_token)).toEqual([401, 401])
  expect(await statuses(token)).toEqual([200, 200])
})

test.concurrent('what a killed service left behind is in nobody’s way', async () => {
  const options = await onFile()
  const control = join(options.directory, 'data', 'home.db.control')
  const first = await serve(options)
  const born = await birth(first.url)
  await first.kill('SIGKILL')
  expect(existsSync(control)).toBe(true)
  await renew(options, born.agent_id)
  expect(existsSync(control)).toBe(false)
  const second = await serve(options)
  await second.kill('SIGKILL')
  const third = await serve(options)
  const token = await renew(options, born.agent_id)
  expect(await statusOf(third.url, token)).toBe(200)
  await third.kill('SIGTERM')
  expect(existsSync(control)).toBe(false)
})

describe.concurrent('on what a service left when it was stopped', () => {
  let left: string
  beforeAll(async () => {
    left = freshDirectory()
    await (await serve({ directory: left })).kill('SIGTERM')
  })

  /** A copy of it, for one test alone. */
  function stopped(): Launch {
    const directory = freshDirectory()
    cpSync(left, directory, { recursive: true })
    return { directory }
  }

  test('it says who holds the database and does not answer', async () => {
    const options = stopped()
    const path = realpathSync(join(options.directory, 'data', 'home.db'))
    const lock = lockProcesses(path, Date.now())
    const held = await operatorKey(options, NOBODY)
    lock.release()
    expect(held).toMatchObject({ code: 1, stdout: '' })
    expect(held.output).toContain(`${path} is in use by process ${process.pid}`)
    expect(held.output).toContain('does not answer. If that is the service, stop it')
  })

  test('an answer that is lost is told so, and no token is shown', async () => {
    const options = stopped()
    const deaf = createServer((socket) => socket.once('data', () => socket.destroy()))
    deaf.listen(join(options.directory, 'data', 'home.db.control'))
    const lost = await operatorKey(options, NOBODY)
    deaf.close()
    expect(lost).toMatchObject({ code: 1, stdout: '' })
    expect(lost.output).toMatch(
      /does not answer\. It is not known whether the old .* Run the command again\.\n$/,
    )
  })

  test('a service of another version says that it does not know the question', async () => {
    const options = stopped()
    const refused = JSON.stringify({ refused: 'Another version.' })
    const older = createServer((socket) => socket.once('data', () => socket.end(refused)))
    older.listen(join(options.directory, 'data', 'home.db.control'))
    const { code, output } = await operatorKey(options, NOBODY)
    older.close()
    expect({ code, output }).toEqual({ code: 1, output: 'Another version.\n' })
  })

  test('a database of a newer program is refused and left as it is', async () => {
    const options = stopped()
    const db = new DatabaseSync(join(options.directory, 'data', 'home.db'))
    db.exec('UPDATE schema_version SET version = 1000, oldest = 1000')
    db.close()
    const { code, output } = await operatorKey(options, NOBODY)
    expect(code).toBe(1)
    expect(output).toMatch(
      /has schema 1000, for .* 1000 or newer, and this program knows \d+\. Run the newer program/,
    )
  })
})

/** A file that is not this user's; root owns all but what it gives away. */
function foreignFile(): string {
  if (process.getuid?.() !== 0) return '/etc/passwd'
  const directory = join(freshDirectory(), 'theirs')
  mkdirSync(directory)
  const path = join(directory, 'home.db')
  writeFileSync(path, '')
  chownSync(path, 65_534, 65_534)
  return path
}

test.concurrent('the data of another user is not opened', async () => {
  const path = foreignFile()
  const beside = readdirSync(join(path, '..'))
  const options = { directory: freshDirectory(), env: { DATABASE_URL: `sqlite:${path}` } }
  const { code, output } = await operatorKey(options, NOBODY)
  expect(code).toBe(1)
  expect(output).toBe(
    `${path} belongs to another user (uid ${statSync(path).uid}). Run this as that user, or as root while the service runs.\n`,
  )
  expect(readdirSync(join(path, '..'))).toEqual(beside)
})

test.concurrent('where no database is, none is made', async () => {
  const options = await onFile()
  const { code, output } = await operatorKey(options, NOBODY)
  const path = join(options.directory, 'data', 'home.db')
  expect(code).toBe(1)
  expect(output).toBe(`There is no database at ${path}. Set DATABASE_URL as the service has it.\n`)
  expect(readdirSync(options.directory)).toEqual([])
})

test.concurrent('it says how it is used, and repeats nothing that may be a secret', async () => {
  const options = await onFile()
  const secret = 'aho_0123456789'
  for (const args of [[], [NOBODY, NOBODY], [secret], ['']]) {
    const { code, stdout, output } = await operatorKey(options, ...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(output).toMatch(/AGENT_ID|arguments|32 hexadecimal digits/)
    expect(output).not.toContain(secret)
  }
  const { code, stdout } = await operatorKey(options, '--help')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^Usage: agent-home operator-key \[options\] <AGENT_ID>/)
  expect(readdirSync(options.directory)).toEqual([])
})

test.concurrent('a command that is not known starts nothing', async () => {
  const options = await onFile()
  const { code, output } = await launch({ ...options, args: ['operator-keys'] }).ended
  expect(code).toBe(2)
  expect(output).toContain("unknown command 'operator-keys'\n(Did you mean operator-key?)")
  expect(readdirSync(options.directory)).toEqual([])
})
