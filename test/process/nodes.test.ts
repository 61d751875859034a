/** Two nodes on one PostgreSQL are one service. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { times, timesPromised } from '../effort.ts'
import { freshKey } from '../harness.ts'
import { faultsOf } from '../history/linearizable.ts'
import { birth, readMemory, type Tokens, writeMemory } from './calls.ts'
import { eventsOf, faultsOfLog, halves } from './log.ts'
import {
  dropDatabases,
  freshDatabase,
  loadOn,
  type Node,
  openNode,
  PAIR,
  readEach,
  startNodes,
} from './nodes.ts'
import { cleanUp, type Server } from './program.ts'

const WRITERS = 64
const ROUNDS = timesPromised(100)

type Pair = readonly [Server, Server]

let nodes: Pair
beforeAll(async () => {
  const [a, b] = await startNodes(2)
  if (!a || !b) throw new Error('two nodes did not start')
  nodes = [a, b]
})
afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function statusOf(node: Pick<Server, 'url'>, path: string, token: string, body?: unknown) {
  const method = body === undefined ? 'GET' : 'POST'
  const headers = { ...bearer(token), 'content-type': 'application/json' }
  const answer = await fetch(node.url + path, { method, headers, body: JSON.stringify(body) })
  await answer.arrayBuffer()
  return answer.status
}

const memory = '/api/agents/me/memory'

test(`${WRITERS} writers over two nodes on one key: one winner at each version`, async () => {
  const { token } = await birth(nodes[0].url)
  const load = loadOn(nodes, token, ['one'])
  for (let version = 0; version < ROUNDS; version++) {
    const writes = Array.from({ length: WRITERS }, (_, i) =>
      load.records[i % 2]?.write('one', version, `${version}/${i}`),
    )
    const outcomes = (await Promise.all(writes)).map((write) => write?.outcome.is)
    expect(outcomes.filter((is) => is === 'saved')).toHaveLength(1)
    expect(outcomes.filter((is) => is === 'conflict')).toHaveLength(WRITERS - 1)
    await load.records[version % 2]?.read('one')
  }
  expect(faultsOf(load.history())).toEqual([])
})

test('reads and changes over both nodes are linearizable', async () => {
  const { token } = await birth(nodes[0].url)
  const load = loadOn(nodes, token, ['a', 'b', 'c', 'd'])
  const stops = nodes.map((_, node) => load.start(node, 8))
  await load.until(() => load.history().length > times(1_000))
  await Promise.all(stops.map((stop) => stop()))
  expect(faultsOf(load.history())).toEqual([])
  expect(await faultsOfLog(nodes[0].url, token, load.history())).toEqual([])
  expect(halves(await eventsOf(nodes[0].url, token), ...PAIR)).toEqual([])
})

describe('a credential', () => {
  const warm = async (node: Server, token: string) => {
    for (let n = 0; n < 3; n++) expect(await statusOf(node, `${memory}?key=k`, token)).toBe(200)
  }

  test('rotated on one node is void on the other for the very next request', async () => {
    const [a, b] = nodes
    const { token: first, operator_token: operator } = await birth(a.url)
    await writeMemory(a.url, first, { key: 'k', text: 'x', expectedVersion: 0 })
    let token = first
    for (let round = 0; round < times(50); round++) {
      const [here, there] = round % 2 === 0 ? [a, b] : [b, a]
      await warm(there, token)
      const headers = bearer(operator)
      const answer = await fetch(`${here.url}/api/agents/me/keys`, { method: 'POST', headers })
      const rotated = (await answer.json()) as { token: string }
      const write = { key: 'k', text: 'stale', expectedVersion: 1 }
      expect(await statusOf(there, memory, token, write)).toBe(401)
      expect(await statusOf(there, `${memory}?key=k`, token)).toBe(401)
      expect(await statusOf(there, '/api/agents/me', token)).toBe(401)
      expect(await statusOf(there, '/api/agents/me/export', token)).toBe(401)
      token = rotated.token
    }
    expect((await readMemory(b.url, token, 'k')).memory.text).toBe('x')
  })

  test('of a paused agent is refused on the other node at once, and works at once again', async () => {
    const [a, b] = nodes
    const { token, operator_token: operator } = await birth(a.url)
    await writeMemory(a.url, token, { key: 'k', text: 'x', expectedVersion: 0 })
    const set = async (status: string) => {
      const headers = { ...bearer(operator), 'content-type': 'application/json' }
      const body = JSON.stringify({ status })
      await fetch(`${a.url}/api/agents/me`, { method: 'PATCH', headers, body })
    }
    for (let round = 0; round < times(20); round++) {
      await warm(b, token)
      await set('paused')
      expect(await statusOf(b, `${memory}?key=k`, token)).toBe(403)
      await set('active')
      expect(await statusOf(b, `${memory}?key=k`, token)).toBe(200)
    }
  })

  test('that writes without pause on one node writes nothing after its rotation was answered', async () => {
    const [a, b] = nodes
    for (let round = 0; round < times(10); round++) {
      const { token, operator_token: operator }: Tokens = await birth(a.url)
      let rotated = false
      const writers = Array.from({ length: 16 }, async (_, i) => {
        for (let version = 0; ; version++) {
          const asked = rotated
          const key = `k${i}`
          const write = { key, text: 'x', expectedVersion: version }
          const status = await statusOf(b, memory, token, write)
          if (asked) expect(status).toBe(401)
          if (status === 401) return
        }
      })
      const headers = bearer(operator)
      const answer = await fetch(`${a.url}/api/agents/me/keys`, { method: 'POST', headers })
      expect(answer.status).toBe(200)
      const before = await exported(a, operator)
      rotated = true
      await Promise.all(writers)
      expect(await exported(a, operator)).toEqual(before)
    }
  })
})

async function exported(node: Server, operator: string): Promise<unknown> {
  const answer = await fetch(`${node.url}/api/agents/me/export`, { headers: bearer(operator) })
  return ((await answer.json()) as { memories: unknown }).memories
}

describe('limits hold in sum', () => {
  async function openPair(env: Record<string, string>): Promise<readonly [Node, Node]> {
    const database = await freshDatabase()
    const pair = [await openNode(database, env), await openNode(database, env)] as const
    onTestFinished(async () => void (await Promise.all(pair.map(({ stop }) => stop()))))
    return pair
  }

  test('reads a minute', async () => {
    const strict = await openPair({ READS_PER_MINUTE: '60' })
    const { token } = await birth(strict[0].url)
    const reads = Array.from({ length: 160 }, (_, i) =>
      statusOf(strict[i % 2] ?? strict[0], `${memory}?key=k`, token),
    )
    const statuses = await Promise.all(reads)
    expect(statuses.filter((status) => status === 404)).toHaveLength(60)
    expect(statuses.filter((status) => status === 429)).toHaveLength(100)
  })

  test('births an hour', async () => {
    const strict = await openPair({ BIRTHS_PER_HOUR_PER_ADDRESS: '5' })
    const births = Array.from({ length: 24 }, (_, i) => {
      const url = strict[i % 2]?.url
      return fetch(`${url}/api/agents/birth`, {
        method: 'POST',
        // Forwarded, for this machine's own programs have more.
        headers: {
          ...{ 'content-type': 'application/json', 'idempotency-key': freshKey() },
          via: '1.1 proxy',
        },
        body: JSON.stringify({ name: 'A', purpose: 'B', symbol: 'zerno', operatorConsent: true }),
      })
    })
    const statuses = (await Promise.all(births)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(5)
    expect(statuses.filter((status) => status === 429)).toHaveLength(19)
  })

  test('one birth of many with one key, sent to both nodes at once', async () => {
    const key = freshKey()
    const births = Array.from({ length: 64 }, (_, i) =>
      fetch(`${nodes[i % 2]?.url}/api/agents/birth`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify({ name: 'A', purpose: 'B', symbol: 'zerno', operatorConsent: true }),
      }),
    )
    const answers = await Promise.all(births)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(63)
    const tokens = await Promise.all(answers.map(async (a) => ((await a.json()) as Tokens).token))
    expect(new Set(tokens).size).toBe(1)
  })
})

test('the stream of one node shows what was left through the other', async () => {
  const [a, b] = nodes
  const stream = await fetch(`${a.url}/api/resonance/stream`)
  const text = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!text) throw new Error('the stream has no body')
  const until = async (pattern: RegExp) => {
    for (let heard = ''; !pattern.test(heard); ) {
      const { value, done } = await text.read()
      if (done) throw new Error(`the stream ended before ${pattern}`)
      heard += value
    }
  }
  await until(/event: welcome/)
  await fetch(`${b.url}/api/garden`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'a trace from the other node' }),
  })
  await until(/a trace from the other node/)
  await text.cancel()
})

// The last: it leaves one of them.
test('kill -9 of a node in mid-load loses nothing that was answered', async () => {
  const { token } = await birth(nodes[0].url)
  const keys = ['a', 'b', 'c', 'd', 'e', 'f']
  const load = loadOn(nodes, token, keys)
  const [stopFirst, stopSecond] = [load.start(0, 8), load.start(1, 8)]
  await load.until(() => load.saved() > times(300))
  const ending = nodes[1].kill('SIGKILL')
  await stopSecond()
  await ending
  const before = load.saved()
  await load.until(() => load.saved() > before + times(100))
  await stopFirst()
  await readEach(load, keys)
  expect(faultsOf(load.history())).toEqual([])
  expect(await faultsOfLog(nodes[0].url, token, load.history())).toEqual([])
  expect(halves(await eventsOf(nodes[0].url, token), ...PAIR)).toEqual([])
})
