/** The protocol's own conformance suite and inspector, against the endpoint behind its guards. */
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { promised } from '../effort.ts'
import { notOffered } from '../mcp/not-offered.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, programCommand, root } from './program.ts'
import { namedIn } from './shell.ts'

const at = (path: string): string => join(root, 'node_modules/@modelcontextprotocol', path)

/** The suite knows no token: this adds it, and passes on the rest. */
const proxy = createServer((incoming, outgoing) => {
  const { method, url, headers } = incoming
  const authorization = `Bearer ${token}`
  const asked = request(new URL(url ?? '', home.url), {
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

let home: OpenedHome
let token: string
let directory: string
beforeAll(async () => {
  directory = freshDirectory()
  home = await openHome({ STREAMS_PER_ADDRESS: '0' })
  token = (await home.service.birth()).token
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
})
afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await cleanUp()
  await home.close()
})

const runs = (script: string, args: readonly string[]) =>
  launch({ directory, command: [pinnedNode, at(script), ...args] }).ended

// `npm test` tries the newest revision, `npm run test:system` each; test/mcp covers 2025 too.
test.each(promised(Object.entries(notOffered).toReversed()))(
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
    ([, shell = '']) => shell.replace('http://127.0.0.1:8787', home.url),
  )
  const here = freshDirectory()
  // npx, once it has fetched the packages that -p names: by range, since an older Node.js gets others.
  expect(block.match(/npx -p node@\d+ -p @modelcontextprotocol\/inspector@\d+ /g)).toHaveLength(2)
  const npx = `shift 5; exec ${pinnedNode} ${at('inspector-cli/build/cli.js')} "$@"`
  const ours = `exec ${programCommand().join(' ')} "$@"`
  const named = namedIn(here, { npx, 'agent-home': ours })
  const env = {
    PATH: [named, process.env.PATH].join(delimiter),
    XDG_CONFIG_HOME: here,
    AGENT_HOME_URL: home.url,
  }
  const args = [...born, '--save', 'default']
  expect((await launch({ directory: here, env, args }).ended).code).toBe(0)
  const command = ['sh', '-c', `${prepare}${block}`]
  const { code, output, stdout } = await launch({ directory: below, env, command }).ended
  expect(code, output).toBe(0)
  expect(stdout).toMatch(
    /inspected is saved as version 1[\s\S]+"text": "inspected, version 1, \S+\\n\\nStep 1"/,
  )
})
