/** The service as people get it: built, packed, installed where nothing else is, and used. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import { transformSync } from 'rolldown/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tooOld } from '../../src/runtime.ts'
import { newAuthenticator, type Options } from '../authenticator.ts'
import { connecting } from '../mcp/clients.ts'
import { birth } from '../process/calls.ts'
import { type Installed, install, nodeOnPath } from '../process/packed.ts'
import { cleanUp, launch, pinnedNode, root, type Server, serve } from '../process/program.ts'
import { expectSteps } from '../process/shell.ts'
import { starting } from '../process/stdio.ts'
import { section, stepsOf } from '../readme.ts'

const MAX_BYTES = 10_000_000

const [toServe, ...toAMemory] = stepsOf(section('docs/operating.md', 'Without a checkout'))

let home: Installed
let server: Server

/** The package's own command, on the Node.js that the path leads to. */
const npx = (...args: string[]) => ({
  directory: home.directory,
  command: ['npx', '--offline', 'agent-home', ...args],
  env: { XDG_CONFIG_HOME: home.directory, AGENT_HOME_URL: server?.url ?? '' },
})

async function says(...args: string[]): Promise<string> {
  const { code, stdout, output } = await launch(npx(...args)).ended
  expect(code, output).toBe(0)
  return stdout
}

beforeAll(async () => {
  home = await install('.')
  server = await serve(npx())
  const { directory, env } = npx()
  await expectSteps({ directory, env: { ...env, PATH: process.env.PATH } }, toAMemory)
})
afterAll(cleanUp)

test('the tarball is dist/ alone, is small, and brings nothing else', () => {
  const beside = /^(README\.md|LICENSE|package\.json)$/
  expect(home.files.filter((file) => !file.startsWith('dist/') && !beside.test(file))).toEqual([])
  expect(home.files).toEqual(expect.arrayContaining(['dist/main.js', 'README.md', 'LICENSE']))
  expect(home.size).toBeLessThan(MAX_BYTES)
  expect(home.beside).toEqual([])
  const manifest = JSON.parse(readFileSync(join(home.inside, 'package.json'), 'utf8'))
  expect(
    Object.keys(manifest).filter((name) => /^(optionalD|peerD|d)ependencies/.test(name)),
  ).toEqual([])
})

test('the guide says how it was installed and started', () => {
  const [install, start] = toServe?.shell.trim().split('\n') ?? []
  expect(install).toBe(`npm install ./${home.tarball}`)
  expect(start).toBe('npx agent-home')
})

test('npx serves it, and its command line reads what it wrote', async () => {
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  expect((await fetch(`${server.url}/openapi.json`)).status).toBe(200)
  expect(await says('read', 'plan')).toBe('Step 1 of 3')
  expect(await says('backup', 'backup.db')).toContain('checks passed')
})

test('its pages have their style, and the console its scripts', async () => {
  const page = await fetch(server.url, { headers: { accept: 'text/html' } })
  const [, assets = ''] = /"(\/assets\/[^/"]+\/)style\.css"/.exec(await page.text()) ?? []
  const scripts = readdirSync(join(root, 'src/web/browser')).map((name) =>
    name.replace('.ts', '.js'),
  )
  expect(scripts).toContain('draft.js')
  const fonts = ['latin.woff2', 'latin-ext.woff2', 'cyrillic.woff2']
  for (const file of ['style.css', ...fonts, ...scripts]) {
    expect((await fetch(server.url + assets + file)).status, file).toBe(200)
  }
})

async function asksByMcp(client: Client, transport: Transport): Promise<void> {
  await client.connect(transport)
  const read = await client.callTool({ name: 'read_memory', arguments: { key: 'plan' } })
  expect(JSON.stringify(read.content)).toContain('Step 1 of 3')
  await client.close()
}

test('it speaks MCP, at /mcp and as a program', async () => {
  const file = readFileSync(join(home.directory, 'agent-home/profiles.json'), 'utf8')
  const { token } = JSON.parse(file).profiles.default
  const headers = { authorization: `Bearer ${token}` }
  const address = new URL(`${server.url}/mcp`)
  await asksByMcp(
    connecting('legacy'),
    new StreamableHTTPClientTransport(address, { requestInit: { headers } }),
  )
  const remote = { AGENT_HOME_URL: server.url, AGENT_HOME_TOKEN: token }
  await asksByMcp(
    connecting('modern'),
    starting(remote, [pinnedNode, join(home.inside, 'dist/main.js')]),
  )
})

test('an older Node.js says in one sentence which it needs', async ({ skip }) => {
  const old = nodeOnPath((version) => tooOld(version) !== undefined)
  if (old === undefined) return skip('no older Node.js is on the path of this machine')
  const command = [old.node, join(home.directory, 'node_modules/.bin/agent-home')]
  const { code, output } = await launch({ directory: home.directory, command }).ended
  expect({ code, output }).toEqual({ code: 1, output: `${tooOld(old.version)}\n` })
})

test('even a Node.js 14 can read its entry, and so say it', () => {
  const entry = readFileSync(join(home.inside, 'dist/main.js'), 'utf8').replace(/^#!.*\n/, '')
  const written = (target: string) => transformSync('main.js', entry, { target }).code
  expect(written('es2020')).toBe(written('esnext'))
  expect(written('es2019')).not.toBe(written('esnext'))
  // What an older Node.js has no such name in would fail before the first line is run.
  expect([...entry.matchAll(/^import .*$/gm)].map(([line]) => line)).toEqual([
    'import nodeModule from "node:module";',
    'import { join } from "node:path";',
  ])
})

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

test('it holds the library of passkeys', async () => {
  await birth(server.url, OWNER)
  expect(await addsPasskey(server.url)).toBe('/console/account?added')
})

test('it stops when it is asked to', async () => {
  expect((await server.kill('SIGTERM')).output).toContain('"msg":"stopped"')
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow('fetch failed')
})
