/** What docs/mcp.md has to copy is tried as it stands, with a real address and a real key. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { parse } from 'smol-toml'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadClientConfig } from '../../src/environment.ts'
import { tools } from '../../src/mcp/tools/index.ts'
import { clients } from '../../src/web/console/agent/clients.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { connecting } from '../mcp/clients.ts'
import { root } from './program.ts'
import { starting } from './stdio.ts'

const guide = readFileSync(join(root, 'docs/mcp.md'), 'utf8')

interface Configured {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  /** As Codex calls them. */
  readonly http_headers?: Readonly<Record<string, string>>
}

interface Servers {
  readonly mcpServers?: Named
  readonly servers?: Named
  readonly mcp_servers?: Named
}

type Named = Readonly<Record<string, Configured>>

const blocks = [...guide.matchAll(/^\*\*([^*]+)\*\*[^\n]*\n\n```(?:json|toml)\n([^`]+)\n```/gm)]

let home: OpenedHome
let token: string
beforeAll(async () => {
  home = await openHome()
  token = (await home.service.birth()).token
})
afterAll(() => home.close())

function configured(source: string): Configured {
  const here = source
    .replaceAll('aha_YOUR_KEY', token)
    .replaceAll('http://127.0.0.1:8787', home.url)
  const read: Servers = here.startsWith('{') ? JSON.parse(here) : parse(here)
  const found = (read.mcpServers ?? read.servers ?? read.mcp_servers)?.['agent-home']
  if (!found) throw new Error(`no server in ${source}`)
  return found
}

function transportOf({ command, args, env = {}, url = '', ...sent }: Configured): Transport {
  if (command === undefined) {
    const headers = sent.headers ?? sent.http_headers ?? {}
    return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  }
  expect([command, ...(args ?? [])]).toEqual(['agent-home', 'mcp'])
  expect(Object.keys(env)).toEqual(Object.keys(loadClientConfig(env)))
  return starting(env)
}

test('it has configuration for the usual clients', () => {
  expect(blocks.map(([, name]) => name)).toEqual([
    'Claude Code',
    'Claude Desktop',
    'Cursor',
    'VS Code',
    'Codex',
  ])
})

test('the console shows the same, with the address and the key in it', () => {
  const place = { url: 'https://home.example', token: 'aha_key' }
  for (const [, name, source = ''] of blocks) {
    const steps = clients.find((each) => each.name === name)?.steps(place)
    const here = source.replaceAll('http://127.0.0.1:8787', place.url)
    expect(steps?.at(-1)?.text).toBe(here.replaceAll('aha_YOUR_KEY', place.token))
  }
})

test.each(blocks.map(([, name = '', source = '']) => ({ name, source })))(
  'what it says for $name connects',
  async ({ source }) => {
    const client = connecting('legacy')
    await client.connect(transportOf(configured(source)))
    expect((await client.callTool({ name: 'get_context' })).isError).toBeFalsy()
    await client.close()
  },
)

test('its table has every tool, in order, with what it costs', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \|.*\| a (read|write) \|$/gm)]
  expect(rows.map(([, name, cost]) => [name, `${cost}s`])).toEqual(
    tools.map(({ name, budget }) => [name, budget]),
  )
})
