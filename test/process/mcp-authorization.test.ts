/** The protocol's own conformance suite, against the built program as an authorization server. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, launch, pinnedNode, root, type Server, serve } from './program.ts'

const SUITE = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

const account = { email: 'operator@example.org', password: 'correct horse battery' }

let server: Server
let agentId: string
beforeAll(async () => {
  server = await serve({ directory: freshDirectory() })
  agentId = (await birth(server.url, account)).agent_id
})
afterAll(cleanUp)

/** The suite listens there itself. */
async function freePort(): Promise<number> {
  const holding = createServer()
  await new Promise<void>((resolve) => holding.listen(0, '127.0.0.1', resolve))
  const { port } = holding.address() as AddressInfo
  await new Promise((resolve) => holding.close(resolve))
  return port
}

async function registered(): Promise<string> {
  const answer = await fetch(`${server.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Suite', redirect_uris: ['http://127.0.0.1/callback'] }),
  })
  return ((await answer.json()) as { client_id: string }).client_id
}

const manual = { redirect: 'manual' } as const

const send = (path: string, fields: Record<string, string>, cookie = '') =>
  fetch(`${server.url}${path}`, {
    ...manual,
    method: 'POST',
    headers: { cookie },
    body: new URLSearchParams(fields),
  })

/** What a person does in a browser. */
async function allow(url: string): Promise<void> {
  const signedIn = await send('/console/sign-in', account)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const asked = await fetch(url, manual)
  const { search } = new URL(asked.headers.get('location') ?? '', server.url)
  const decided = await send(
    '/console/consent',
    {
      ...{ request: search.slice(1), turn: '0', home: agentId },
      ...{ access: 'write', days: '0', decision: 'allow' },
    },
    cookie,
  )
  await fetch(decided.headers.get('location') ?? '')
}

test('it conforms to what is asked of an authorization server', async () => {
  const port = await freePort()
  const suite = launch({
    directory: freshDirectory(),
    command: [
      ...[pinnedNode, SUITE, 'authorization', '--url', server.url],
      ...['--client-id', await registered(), '--resource', `${server.url}/mcp`],
      ...['--port', String(port)],
    ],
  })
  const [url] = await suite.says(/^http\S+\/oauth\/authorize\S+$/m)
  await suite.says(/Callback server started/)
  await allow(url)
  const { code, output } = await suite.ended
  expect(code, output.slice(-4_000)).toBe(0)
  expect(output).toMatch(/✓ authorization-server-metadata-endpoint: \d+ passed, 0 failed/)
  expect(output).toMatch(/✓ authorization-code-grant: \d+ passed, 0 failed/)
})
