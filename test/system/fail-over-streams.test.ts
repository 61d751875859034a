/**
 * Live streams while no database answers: the primary is killed under clients that go on writing,
 * and its synchronous standby promoted. Streams stay open and silent, then tell each event once;
 * those that may no longer be read end at the first answer.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { connecting } from '../mcp/clients.ts'
import { createPostgres, freePort, type PostgresServer } from '../postgres/server.ts'
import { birth, eraseAgent, type Tokens, writeMemory } from '../process/calls.ts'
import { blocksUntil, follow, idsOf, idsUntil } from '../process/following.ts'
import { eventsOf } from '../process/log.ts'
import { startNode } from '../process/nodes.ts'
import { cleanUp, type Server } from '../process/program.ts'

/** So often writes fail on each node while there is no primary. */
const REFUSALS = 20

let primary: PostgresServer
let standby: PostgresServer
let nodes: readonly [Server, Server]
beforeEach(async () => {
  primary = await createPostgres(inject('postgresModel'))
  await primary.start()
  standby = await primary.standby(await freePort())
  const both = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
  const url = primary.url('postgres').replace(`127.0.0.1:${primary.port}`, both)
  // A limit, so that permits for reading the log are leased from the database.
  const env = { READS_PER_MINUTE: '100000' }
  nodes = [await startNode(url, env), await startNode(url, env)]
})
afterEach(async () => {
  await cleanUp()
  await Promise.all([primary, standby].map((server) => server.remove()))
})

const send = (node: Server, path: string, method: string, token: string, body?: unknown) =>
  fetch(`${node.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const write = (node: Server, token: string, key: string) =>
  send(node, '/api/agents/me/memory', 'POST', token, { key, text: 'x', expectedVersion: 0 })

/** As a client does: again, until it is answered. */
async function untilAnswered(ask: () => Promise<Response>): Promise<void> {
  for (;;) {
    const { status } = await ask()
    if (status < 500) return
  }
}

/** Each node is asked to write to each home in vain. */
async function refuseWrites(homes: readonly Tokens[]): Promise<void> {
  for (let n = 0; n < REFUSALS; n++) {
    for (const { token } of homes) {
      for (const node of nodes) expect((await write(node, token, `refused${n}`)).status).toBe(503)
    }
  }
}

const post = (node: Server, text: string): Promise<Response> =>
  fetch(`${node.url}/api/garden`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text }),
  })

const account = { email: 'operator@example.org', password: 'a long enough passphrase' }

/** The stream that the console's pages of an agent follow. */
async function followAtConsole(node: Server, agentId: string): Promise<Response> {
  const signedIn = await fetch(`${node.url}/console/sign-in`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(account),
    redirect: 'manual',
  })
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  return fetch(`${node.url}/console/agents/${agentId}/events?after=0`, { headers: { cookie } })
}

/** What a client of MCP is told of, until the last of its resources. */
async function subscribe(node: Server, token: string, uris: readonly string[]) {
  const client = connecting('modern')
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${node.url}/mcp`), { requestInit }),
  )
  const told: string[] = []
  const { promise: over, resolve } = Promise.withResolvers<string[]>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    told.push(params.uri)
    if (params.uri === uris.at(-1)) resolve(told)
  })
  await client.listen({ resourceSubscriptions: [...uris] })
  return { told: over.finally(() => client.close()) }
}

const isOf = (key: string) => (block: string) => block.includes(`"key":"${key}"`)

test('streams of every kind stay open, and tell each event once', async () => {
  const [a, b] = nodes
  const home = await birth(a.url, account)
  const { agent_id: agentId, token, operator_token: operator } = home
  const named = { name: 'reader', access: 'read', prefix: 'shown.' }
  const key = await send(a, '/api/agents/me/keys/named', 'POST', operator, named)
  const { token: keyToken } = (await key.json()) as { token: string }
  await writeMemory(a.url, token, { key: 'shown.before', text: 'x', expectedVersion: 0 })
  const gateway = await fetch(`${b.url}/api/resonance/stream`)
  expect((await post(a, 'before')).status).toBe(201)
  const heard = Promise.all([
    idsUntil(await follow(a, token, 0), isOf('shown.last')),
    idsUntil(await follow(b, token, 0), isOf('shown.last')),
    idsUntil(await followAtConsole(b, agentId), isOf('shown.last')),
  ])
  const shown = idsUntil(await follow(b, keyToken, 0), isOf('shown.last'))
  const entries = blocksUntil(gateway, (block) => block.includes('"last"'))
  const uris = ['shown.before', 'hidden', 'shown.last'].map((name) => `memory:///${name}`)
  const resources = await subscribe(b, token, uris)

  await primary.kill()
  await refuseWrites([home])
  expect((await post(b, 'in vain')).status).toBe(503)
  await standby.query('SELECT pg_promote()')
  await untilAnswered(() => write(a, token, 'hidden'))
  await untilAnswered(() => write(a, token, 'shown.last'))
  await untilAnswered(() => post(a, 'last'))

  const events = await eventsOf(b.url, token)
  const ids = events.map(({ id }) => id)
  expect(ids.length).toBeGreaterThanOrEqual(4)
  expect(await heard).toEqual([ids, ids, ids])
  const visible = events.filter(({ key: name }) => name?.startsWith('shown.'))
  expect(await shown).toEqual(visible.map(({ id }) => id))
  const { traces } = (await (await fetch(`${a.url}/api/garden`)).json()) as {
    traces: { id: string }[]
  }
  expect(idsOf(await entries)).toEqual(traces.map(({ id }) => id).toReversed())
  expect(await resources.told).toEqual(uris.slice(1))
})

test('those that may no longer be read end as soon as the database answers', async () => {
  const [a, b] = nodes
  const [paused, rotated, erased] = [await birth(a.url), await birth(a.url), await birth(a.url)]
  const homes = [paused, rotated, erased]
  const streams = await Promise.all(homes.map(({ token }) => follow(b, token, 0)))
  const texts = streams.map((stream) => blocksUntil(stream, () => false))
  await primary.kill()
  await refuseWrites(homes)
  await standby.query('SELECT pg_promote()')
  await Promise.all([
    untilAnswered(() =>
      send(a, '/api/agents/me', 'PATCH', paused.operator_token, { status: 'paused' }),
    ),
    untilAnswered(() => send(a, '/api/agents/me/keys', 'POST', rotated.operator_token)),
    eraseAgent(a.url, erased).catch(() => eraseAgent(a.url, erased)),
  ])
  const ends = (await Promise.all(texts)).map((blocks) =>
    blocks.filter((block) => block.startsWith('event: end')),
  )
  const codes = ends.map(([end = ''], home) => [home, /"code":"(\w+)"/.exec(end)?.[1]])
  expect(codes).toEqual([
    [0, 'agent_paused'],
    [1, 'invalid_token'],
    [2, 'invalid_token'],
  ])
})
