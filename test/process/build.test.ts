import { cpSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { afterEach, expect, test } from 'vitest'
import { newAuthenticator, type Options } from '../authenticator.ts'
import { connecting } from '../mcp/clients.ts'
import { birth, readMemory, writeMemory } from './calls.ts'
import { cleanUp, freshDirectory, launch, root, serve } from './program.ts'
import { starting } from './stdio.ts'

afterEach(cleanUp)

async function asksByMcp(client: Client, transport: Transport): Promise<void> {
  await client.connect(transport)
  const read = await client.callTool({ name: 'read_memory', arguments: { key: 'plan' } })
  expect(read.structuredContent).toMatchObject({ memory: { text: 'Step 1' } })
  await client.close()
}

const OWNER = { email: 'operator@example.org', password: 'correct horse battery' }

/** By the name that passkeys belong to here. Sends a form, and tells where it leads. */
async function addsPasskey(url: string): Promise<string | null> {
  const base = url.replace('127.0.0.1', 'localhost')
  let cookie = ''
  const send = async (path: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams(fields)
    const { headers } = await fetch(base + path, {
      ...{ method: 'POST', redirect: 'manual', body, headers: { cookie } },
    })
    cookie ||= headers.get('set-cookie')?.split(';')[0] ?? ''
    return headers.get('location')
  }
  await send('/console/sign-in', OWNER)
  const asked = await fetch(`${base}/console/account/passkeys/new`, { headers: { cookie } })
  const passkey = newAuthenticator(base).create((await asked.json()) as Options)
  return send('/console/account/passkeys', { passkey })
}

test('npm run build gives a program that needs nothing else, serves and keeps memories', async () => {
  const build = await launch({ directory: root, command: ['npm', 'run', 'build'] }).ended
  // Files may be called errors; what went wrong begins a line with it.
  expect(build.output).not.toMatch(/^\W*(error|warning)\b/im)
  expect(build.code, build.output).toBe(0)

  const alone = freshDirectory()
  cpSync(join(root, 'package.json'), join(alone, 'package.json'))
  cpSync(join(root, 'dist'), join(alone, 'dist'), { recursive: true })
  const server = await serve({ directory: alone, entry: join(alone, 'dist/main.js') })
  const { token } = await birth(server.url, OWNER)
  expect(await addsPasskey(server.url)).toBe('/console/account?added')
  await writeMemory(server.url, token, { key: 'plan', text: 'Step 1', expectedVersion: 0 })
  expect((await readMemory(server.url, token, 'plan')).memory.text).toBe('Step 1')
  expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200)
  await asksByMcp(
    connecting('legacy'),
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  const remote = { AGENT_HOME_URL: server.url, AGENT_HOME_TOKEN: token }
  await asksByMcp(connecting('modern'), starting(remote, join(alone, 'dist/main.js')))
  const page = await (await fetch(server.url, { headers: { accept: 'text/html' } })).text()
  const assets = [...page.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => server.url + path)
  expect(assets.length).toBeGreaterThan(2)
  for (const asset of assets) expect((await fetch(asset)).status).toBe(200)
  const entry = join(alone, 'dist/main.js')
  const backup = await launch({ directory: alone, entry, args: ['backup', 'backup.db'] }).ended
  expect(backup).toMatchObject({ code: 0, stdout: expect.stringContaining('checks passed') })
  const env = { AGENT_HOME_URL: server.url, AGENT_HOME_TOKEN: token }
  const read = await launch({ directory: alone, entry, env, args: ['read', 'plan'] }).ended
  expect(read).toMatchObject({ code: 0, stdout: 'Step 1' })
  expect((await server.kill('SIGTERM')).code).toBe(0)
})
