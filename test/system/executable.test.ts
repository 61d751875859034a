/** The program as one file: made from the build, and moved to where nothing of the repository is. */
import { mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth, consolePage, searchMemories, writeMemory } from '../process/calls.ts'
import { keepings } from '../process/databases.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, freshDirectory, launch, root, serve } from '../process/program.ts'

/** A path that is another in a URL. */
const DIRECTORY = 'a b é#%41'

const OWNER = { email: 'operator@example.org', password: 'correct horse battery' }

let executable: string
beforeAll(async () => {
  const directory = freshDirectory()
  for (const name of ['src', 'dist', 'rolldown.config.ts', 'package-lock.json']) {
    symlinkSync(join(root, name), join(directory, name))
  }
  const args = ['--if-older', '--executable']
  const { code, output } = await launch({ directory, entry: 'build.ts', args }).ended
  expect(code, output).toBe(0)
  const [name = ''] = readdirSync(join(directory, 'release'))
  expect(name).toBe(`agent-home-${process.platform}-${process.arch}`)
  const elsewhere = join(freshDirectory(), DIRECTORY)
  mkdirSync(elsewhere)
  executable = join(elsewhere, name)
  renameSync(join(directory, 'release', name), executable)
})
afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

test('it has every command, and knows which it is', async () => {
  const directory = freshDirectory()
  const run = (...args: string[]) => launch({ directory, entry: executable, args }).ended
  expect(await run('--version')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\./) })
  expect(await run('read', 'plan')).toMatchObject({ code: 2, stdout: '' })
  expect(readdirSync(directory)).toEqual([])
})

test.each(['sqlite', 'postgres'] as const)(
  'on %s it serves all that the program serves',
  async (engine) => {
    const { directory, env } = await keepings[engine]()
    const server = await serve({ directory, env, entry: executable })
    const { token, agent_id } = await birth(server.url, OWNER)
    await writeMemory(server.url, token, { key: 'plan', text: 'The red door', expectedVersion: 0 })
    // A thread of its own.
    const { memories } = await searchMemories(server.url, token, 'doors')
    expect(memories).toMatchObject([{ key: 'plan' }])
    const page = await (await fetch(server.url, { headers: { accept: 'text/html' } })).text()
    const files = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)
    expect(files.length).toBeGreaterThan(1)
    for (const path of files) expect((await fetch(server.url + path)).status, path).toBe(200)
    const panel = `/console/agents/${agent_id}/connect/cursor`
    expect(await consolePage(server.url, OWNER, panel)).toContain('mcpServers')
    // Libraries that are loaded when they are first asked for.
    const metadata = await fetch(`${server.url}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).toMatchObject({ issuer: server.url })
    const initialize = {
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
      },
    }
    const mcp = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...initialize }),
    })
    expect(await mcp.json()).toMatchObject({ result: { serverInfo: { name: 'agent-home' } } })
    expect((await server.kill('SIGTERM')).code).toBe(0)
  },
)

test('it backs up, in a thread of its own, and verifies', async () => {
  const directory = freshDirectory()
  const server = await serve({ directory, entry: executable })
  await birth(server.url)
  const args = ['backup', 'backup.db']
  const backup = await launch({ directory, entry: executable, args }).ended
  expect(backup.code, backup.output).toBe(0)
  expect(readdirSync(directory)).toContain('backup.db')
})
