/** The protocol's own conformance suite and inspector, against the endpoint behind its guards. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { notOffered } from '../mcp/not-offered.ts'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root, type Server, serve } from './program.ts'
import { namedIn } from './shell.ts'

const at = (path: string): string => join(root, 'node_modules/@modelcontextprotocol', path)

/** The suite knows no token: this adds it, and passes on the rest. */
const proxy = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming
  const authorization = `Bearer ${token}`
  const asked = request(new URL(url ?? '', server.url), {
    method,
    headers: { ...headers, authorization },
  })
  asked.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
    answer.pipe(outgoing)
  })
  asked.on('error', () => outgoing.destroy())
  outgoing.on('close', () => asked.destroy())
  incoming.pipe(asked)
})

let server: Server
let token: string
let directory: string
beforeAll(async () => {
  directory = freshDirectory()
  server = await serve({ directory, env: { READS_PER_MINUTE: '0', STREAMS_PER_ADDRESS: '0' } })
  token = (await birth(server.url)).token
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
})
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await cleanUp()
})

const runs = (script: string, args: readonly string[], from = directory) =>
  launch({ directory: from, command: [pinnedNode, at(script), ...args] }).ended

test.each(Object.entries(notOffered))(
  'it conforms to what %s requires, but for what it does not offer',
  async (revision, lists) => {
    const baseline = join(directory, `${revision}.yml`)
    const names = lists.flatMap(({ of }) => of)
    writeFileSync(baseline, `server:\n${names.map((name) => `  - ${name}\n`).join('')}`)
    const { port } = proxy.address() as AddressInfo
    const { code, output } = await runs('conformance/dist/index.js', [
      ...['server', '--url', `http://127.0.0.1:${port}/mcp`],
      ...['--requirements', revision, '--expected-failures', baseline],
    ])
    expect(code, output.slice(-4_000)).toBe(0)
    expect(output).toMatch(/✓ tools-list: [34] passed, 0 failed/)
  },
)

const born = ['birth', '--name', 'A', '--purpose', 'p', '--symbol', 'zerno', '--operator-consent']

/** The inspector looks for a package.json above where it is started. */
const below = join(root, 'src')

test('docs/mcp.md: what it has to try, by stdio and over HTTP, goes as it is copied', async () => {
  const guide = readFileSync(join(root, 'docs/mcp.md'), 'utf8')
  const [prepare = '', block = ''] = Array.from(
    (guide.split('## Try it')[1] ?? '').matchAll(/^```sh\n([^`]+)```/gm),
    ([, shell = '']) => shell.replace('http://127.0.0.1:8787', server.url),
  )
  const here = freshDirectory()
  // npx, once it has fetched the packages that -p names: by range, since an older Node.js gets others.
  expect(block.match(/npx -p node@\d+ -p @modelcontextprotocol\/inspector@\d+ /g)).toHaveLength(2)
  const npx = `shift 5; exec ${pinnedNode} ${at('inspector-cli/build/cli.js')} "$@"`
  const ours = `exec ${pinnedNode} ${join(root, 'src/main.ts')} "$@"`
  const named = namedIn(here, { npx, 'agent-home': ours })
  const env = {
    PATH: [named, process.env.PATH].join(delimiter),
    XDG_CONFIG_HOME: here,
    AGENT_HOME_URL: server.url,
  }
  // The home of the README has a plan.
  for (const args of [
    [...born, '--save', 'default'],
    ['write', 'plan', 'Step 1 of 3'],
  ]) {
    expect((await launch({ directory: here, env, args }).ended).code).toBe(0)
  }
  const command = ['sh', '-c', `${prepare}${block}`]
  const { code, output, stdout } = await launch({ directory: below, env, command }).ended
  expect(code, output).toBe(0)
  expect(stdout).toMatch(/inspected is saved as version 1[\s\S]+"text": "Step 1"/)
})

const inspected = async (...args: readonly string[]) => {
  const asked = [
    ...['--cli', `${server.url}/mcp`, '--transport', 'http'],
    ...['--header', `Authorization: Bearer ${token}`, ...args],
  ]
  const { code, output, stdout } = await runs('inspector-cli/build/cli.js', asked, below)
  expect(code, output).toBe(0)
  return JSON.parse(stdout)
}

test('the inspector lists its tools and calls them', async () => {
  const { tools } = await inspected('--method', 'tools/list')
  expect(tools.map(({ name }: { name: string }) => name)).toContain('write_memory')
  const call = (name: string, ...args: readonly string[]) =>
    inspected(
      '--method',
      'tools/call',
      '--tool-name',
      name,
      ...args.flatMap((arg) => ['--tool-arg', arg]),
    )
  const written = await call('write_memory', 'key=plan', 'text=Step 1', 'expectedVersion=0')
  expect(written.structuredContent.memory).toMatchObject({ key: 'plan', version: 1 })
  const read = await call('read_memory', 'key=plan')
  expect(read.structuredContent.memory.text).toBe('Step 1')
  const { resources } = await inspected('--method', 'resources/list')
  expect(resources).toMatchObject([{ uri: 'memory:///plan' }])
})
