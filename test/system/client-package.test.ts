/** The client as people get it: built, packed, installed where nothing else is, and used. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import manifest from '../../clients/typescript/package.json' with { type: 'json' }
import { buildClient, type Installed, install, nodeOnPath } from '../process/packed.ts'
import {
  cleanUp,
  freshDirectory,
  launch,
  pinnedNode,
  root,
  type Server,
  serve,
} from '../process/program.ts'

const program = `
import { AgentHome, VersionConflict } from 'agent-home-client'

const [url] = process.argv.slice(2)
const { token, operator_token } = await AgentHome.birth({
  url,
  name: 'Atlas',
  purpose: 'Keeps a plan.',
  symbol: 'zerno',
  operatorConsent: true,
})
const home = new AgentHome({ url, token })
const operator = new AgentHome({ url, token: operator_token })
await Promise.all(['A', 'B', 'C'].map((text) => home.update('plan', (now) => (now?.text ?? '') + text)))
const refused = await home.write('plan', 'x', { expectedVersion: 0 }).catch((error) => error)
const keys = []
for await (const { key } of home.list()) keys.push(key)
for await (const event of home.watch({ after: 0 })) { keys.push(event.type); break }
const { memoryCount } = await new Response(await home.export()).json()
const { skipped } = await operator.import(await home.export(), { onConflict: 'skip' })
console.log([refused instanceof VersionConflict, refused.currentVersion, ...keys, memoryCount, skipped].join())
`

const typed = `
import { AgentHome, type Memory, VersionConflict } from 'agent-home-client'

const home = new AgentHome({ url: 'http://127.0.0.1:8787', token: 'aha_' })
export const plan: Promise<Memory> = home.update('plan', (now) => now?.text ?? '')
export const found: Promise<Memory | undefined> = home.read('plan')
// @ts-expect-error: a write says which version it is made of.
export const unsaid = home.write('plan', 'A', {})
export const of = (error: VersionConflict): number => error.currentVersion
`

const required = `console.log(require('agent-home-client').AgentHome.name)`

/** What plugs into other packages, beside them. */
const plugged = `
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { AgentHome } from 'agent-home-client'
import { memoryTools } from 'agent-home-client/ai-sdk'
import { memoryHandlers } from 'agent-home-client/anthropic'
import { generateText } from 'ai'

const home = new AgentHome({ url: 'http://127.0.0.1:8787', token: 'aha_' })
const tools = memoryTools(home)
export const generate = (model: string) => generateText({ model, tools, prompt: 'Go.' })
console.log(betaMemoryTool(memoryHandlers(home)).name, Object.keys(tools).length)
`

const peers = Object.keys(manifest.peerDependencies)

const lines = (...args: readonly string[]) => ({ directory, command: args })

let client: Installed
let directory = ''
let server: Server

beforeAll(async () => {
  await buildClient()
  client = await install('clients/typescript/dist')
  directory = client.directory
  server = await serve({ directory: freshDirectory() })
  writeFileSync(join(directory, 'program.js'), program)
  for (const file of ['typed.ts', 'typed.cts']) writeFileSync(join(directory, file), typed)
  writeFileSync(join(directory, 'plugged.ts'), plugged)
})
afterAll(cleanUp)

const OUTPUT = 'true,3,plan,write,1,1\n'

test('it is installed alone, with nothing but itself in it', () => {
  const { files, beside } = client
  expect(beside).toEqual([])
  const parts = Object.keys(manifest.exports).map((name) => join(name, 'index'))
  expect(parts).toContain('anthropic/index')
  expect(files).toEqual(
    expect.arrayContaining([
      'README.md',
      'LICENSE',
      ...parts.flatMap((part) => [`${part}.js`, `${part}.d.ts`, `${part}.d.cts`]),
    ]),
  )
  const strays = files.filter(
    (name) => !/\.(js|js\.map|d\.c?ts)$|^(README\.md|LICENSE|package\.json)$/.test(name),
  )
  expect(strays).toEqual([])
})

test('its README and each guide name the tarball that npm pack gives', () => {
  const names = readdirSync(join(root, 'docs/adapters'))
  const guides = names.flatMap((name) =>
    name.startsWith('python-') ? [] : [`docs/adapters/${name}`],
  )
  for (const path of ['clients/typescript/README.md', ...guides]) {
    const guide = readFileSync(join(root, path), 'utf8')
    expect(/npm install (\S+)/.exec(guide)?.[1], path).toBe(`./${client.tarball}`)
    expect(guide, path).toContain(
      '`npm run build -w agent-home-client && npm pack ./clients/typescript/dist`',
    )
  }
})

test('it works on the Node.js that this program runs on', async () => {
  const { stdout, output } = await launch(lines(pinnedNode, 'program.js', server.url)).ended
  expect(stdout, output).toBe(OUTPUT)
})

test('it works on Node.js 20', async ({ skip }) => {
  const old = nodeOnPath((version) => version.startsWith('20.'))
  if (old === undefined) return skip('no Node.js 20 is on the path of this machine')
  const { stdout, output } = await launch(lines(old.node, 'program.js', server.url)).ended
  expect(stdout, output).toBe(OUTPUT)
})

/** Installs a package that this project has. */
function link(name: string): void {
  const path = join(directory, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), path)
}

const DOM = ['--lib', 'es2023,dom', '--types', '']
const NODE = ['--lib', 'es2023', '--types', 'node']

const typesOf = (how: string, file: string, platform = DOM) => {
  const module = how === 'bundler' ? 'esnext' : how
  // TypeScript's own files are not what is tried.
  const options = ['--strict', '--noEmit', '--skipDefaultLibCheck', ...platform]
  const check = ['--module', module, '--moduleResolution', how, ...options, file]
  return launch(lines(join(root, 'node_modules/.bin/tsc'), ...check)).ended
}

test.each([
  ['nodenext', 'typed.ts'],
  ['bundler', 'typed.ts'],
  ['nodenext', 'typed.cts'],
  ['node16', 'typed.cts'],
])('its types are found by module resolution %s from %s', async (how, file) => {
  const { code, output } = await typesOf(how, file)
  expect(code, output).toBe(0)
})

test('its types need no DOM beside those of Node.js', async () => {
  link('@types/node')
  link('undici-types')
  const { code, output } = await typesOf('nodenext', 'typed.ts', NODE)
  expect(code, output).toBe(0)
})

test('a CommonJS module requires it', async () => {
  writeFileSync(join(directory, 'required.cjs'), required)
  const { stdout, output } = await launch(lines(pinnedNode, 'required.cjs')).ended
  expect(stdout, output).toBe('AgentHome\n')
})

test('its adapters work beside the packages that they plug into, and fit their types', async () => {
  for (const peer of peers) link(peer)
  const { stdout, output } = await launch(lines(pinnedNode, 'plugged.ts')).ended
  expect(stdout, output).toBe('memory 8\n')
  const types = await typesOf('nodenext', 'plugged.ts')
  expect(types.code, types.output).toBe(0)
})
