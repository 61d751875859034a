/** `agent-home mcp`: by the official client in both eras, and by scripts that make mistakes. */
import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough, Readable } from 'node:stream'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { z } from 'zod'
import { Failure } from '../../src/cli/failure.ts'
import { relay } from '../../src/cli/remote/mcp/mcp.ts'
import { listen } from '../../src/http/server.ts'
import { tools } from '../../src/mcp/tools/index.ts'
import { tokenFrom } from '../../src/pipeline/tokens.ts'
import { speak, terminalOf } from '../cli/spoken.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { manualTimers } from '../manual-timers.ts'
import { connecting, eras } from '../mcp/clients.ts'
import { cleanUp, freshDirectory } from './program.ts'
import { calling, initialize, relayed, scripted, starting } from './stdio.ts'

let opened: OpenedHome
let token: string
beforeAll(async () => {
  opened = await openHome()
  token = (await opened.service.birth()).token
})
afterAll(async () => {
  await opened.close()
  await cleanUp()
})
beforeEach(() => void vi.stubEnv('XDG_CONFIG_HOME', freshDirectory()))
afterEach(() => void vi.unstubAllEnvs())

const remote = () => ({ AGENT_HOME_URL: opened.url, AGENT_HOME_TOKEN: token })

const never = tokenFrom('agent', Buffer.alloc(32, 7))

/** Something else on a port. */
async function serving(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Takes every message, and answers none. `asked`: waits until there were so many. */
async function silent() {
  let seen = 0
  const arrivals = new EventEmitter()
  const url = await serving((request, response) => {
    if (request.url !== '/mcp') return response.writeHead(404).end()
    seen += 1
    arrivals.emit('one')
    return response
  })
  return {
    url,
    seen: () => seen,
    async asked(times: number) {
      while (seen < times) await once(arrivals, 'one')
    },
  }
}

/** A session that is still open. */
function session(url: string) {
  const [input, output, manual] = [new PassThrough(), new PassThrough(), manualTimers()]
  const said: string[] = []
  const streams = { input, output, say: (each: string) => void said.push(each) }
  const connection = () => ({ url, token, profile: undefined, notice: () => {} })
  const ended = relay(connection, streams, manual.timers)
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  return {
    said,
    pass: manual.pass,
    waits: manual.waits,
    say: (message: unknown) => void input.write(`${JSON.stringify(message)}\n`),
    async heard(times: number) {
      const answers = []
      while (answers.length < times) answers.push(JSON.parse(String((await lines.next()).value)))
      return answers
    },
    async end() {
      input.end()
      await ended
    },
  }
}

const asking = (id: number, method: string) => ({ jsonrpc: '2.0', id, method })

const textIn = ({ result }: { result: object }) =>
  (result as { content: [{ text: string }] }).content[0].text

/** What the run was called that wrote a memory last. */
async function runOf(key: string): Promise<string | undefined> {
  const path = `/api/agents/me/memory/versions?key=${key}`
  const { body } = await opened.service.call('GET', path, { token })
  const [newest] = body.versions as readonly { readonly by: { readonly run?: string } }[]
  return newest?.by.run
}

test('a run is called what --run or AGENT_HOME_RUN says, else by the client’s name', async () => {
  const write = (key: string) => [
    initialize,
    calling(2, 'write_memory', { key, text: 'x', expectedVersion: 0 }),
  ]
  await scripted(remote(), write('named.by-client'))
  expect(await runOf('named.by-client')).toBe('script')
  await scripted({ ...remote(), AGENT_HOME_RUN: 'nächtlich' }, write('named.by-environment'))
  expect(await runOf('named.by-environment')).toBe('nächtlich')
  const output = new PassThrough().resume()
  const input = Readable.from(write('named.by-option').map((each) => `${JSON.stringify(each)}\n`))
  const connection = { url: opened.url, token, profile: undefined, run: 'seven', notice: () => {} }
  await relay(() => connection, { input, output, say: () => {} })
  expect(await runOf('named.by-option')).toBe('seven')
})

test.each([
  ['long', 'x'.repeat(81)],
  ['of two lines', 'a\nb'],
  ['in part invisible', 'a\u{3164}b'],
])('a client whose name is %s writes without a run', async (kind, name) => {
  const params = { ...initialize.params, clientInfo: { name, version: '1' } }
  const key = `named.${kind.replaceAll(' ', '-')}`
  const call = calling(2, 'write_memory', { key, text: 'x', expectedVersion: 0 })
  await scripted(remote(), [{ ...initialize, params }, call])
  const { body } = await opened.service.call('GET', `/api/agents/me/memory?key=${key}`, { token })
  expect(body).toMatchObject({ memory: { text: 'x' } })
  expect(await runOf(key)).toBeUndefined()
})

test.each(eras)('a client of $version has the same tools over stdio', async ({ era, version }) => {
  const client = connecting(era)
  const transport = starting(remote())
  let said = ''
  transport.stderr?.on('data', (text) => {
    said += text
  })
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  expect((await client.listTools()).tools).toHaveLength(tools.length)
  const args = { key: `plan.${era}`, text: 'Step 1', expectedVersion: 0 }
  await client.callTool({ name: 'write_memory', arguments: args })
  const read = await client.callTool({ name: 'read_memory', arguments: { key: args.key } })
  expect(read.content).toMatchObject([
    { text: expect.stringMatching(/, version 1, .*\n\nStep 1$/) },
  ])
  const again = await client.callTool({ name: 'write_memory', arguments: args })
  expect(again.isError).toBe(true)
  expect(await runOf(args.key)).toBe('test')
  const uri = `memory:///${args.key}`
  expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: 'Step 1' }])
  await expect(client.readResource({ uri: 'memory:///nothing' })).rejects.toThrow()
  await client.close()
  expect(said).toBe('')
})

test('a client of today is told of changes over stdio', async () => {
  const client = connecting('modern')
  await client.connect(starting(remote()))
  const { promise: told, resolve } = Promise.withResolvers<string>()
  client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
    resolve(params.uri),
  )
  const uri = 'memory:///watched'
  const subscription = await client.listen({ resourceSubscriptions: [uri] })
  const args = { key: 'watched', text: 'x', expectedVersion: 0 }
  await client.callTool({ name: 'write_memory', arguments: args })
  expect(await told).toBe(uri)
  await subscription.close()
  await client.close()
})

test('a script that ends its input gets its answers first, and nothing else', async () => {
  const write = { key: 'script', text: 'x', expectedVersion: 0 }
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const messages = [initialize, initialized, calling(2, 'write_memory', write)]
  const { code, stderr, answers } = await scripted(remote(), messages)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2])
  expect(answers.every(({ result }) => result && !result.isError)).toBe(true)
})

test('a request that is cancelled is left, while others are still to come', async () => {
  const [asked, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  // It answers no message.
  const server = createServer((request, response) => {
    if (request.url !== '/mcp') return response.writeHead(404).end()
    response.once('close', left.resolve)
    asked.resolve()
    return response
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connection = () => ({ url, token, profile: undefined, notice: () => {} })
  const input = new PassThrough()
  const said: string[] = []
  const ended = relay(connection, {
    input,
    output: new PassThrough().resume(),
    say: (each) => void said.push(each),
  })
  const say = (message: object) => input.write(`${JSON.stringify(message)}\n`)
  say(initialize)
  await asked.promise
  say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: initialize.id } })
  await left.promise
  input.end()
  await ended
  expect(said).toEqual([])
  server.close()
})

describe('the history', () => {
  const contextOf = async (url: string, by: string) => {
    const { answers } = await relayed(url, by, [initialize, calling(2, 'get_context')])
    const { content } = answers.find(({ id }) => id === 2).result
    return { said: content.at(-1).text }
  }

  test('is remembered on this computer, and a context says whether it is still the same', async () => {
    const own = await openHome()
    const { token } = await own.service.birth()
    const first = await contextOf(own.url, token)
    expect(first.said).toBe('Your history is remembered from now on; its last event is 0.')
    const write = { key: 'plan', text: 'one', expectedVersion: 0 }
    await relayed(own.url, token, [initialize, calling(2, 'write_memory', write)])
    // What the last session did is remembered when it ends.
    const second = await contextOf(own.url, token)
    expect(second.said).toBe('Your history is unchanged: unbroken since event 1.')

    const db = new DatabaseSync(own.service.store.location)
    db.exec('UPDATE homes SET head = zeroblob(32); UPDATE log SET hash = zeroblob(32)')
    db.close()
    for (let times = 0; times < 2; times++) {
      const { said } = await contextOf(own.url, token)
      expect(said).toMatch(/^WARNING\. Event 1 of this home differs from the remembered one/)
    }
    await own.close()
  })

  test('is not spoken of to a key with a prefix', async () => {
    const { token, operatorToken } = await opened.service.birth()
    const body = { name: 'p', access: 'read', prefix: 'a' }
    const options = { token: operatorToken, body }
    const named = await opened.service.call('POST', '/api/agents/me/keys/named', options)
    const { said } = await contextOf(opened.url, String(named.body.token))
    expect(said).not.toContain('history')
    expect((await contextOf(opened.url, token)).said).toContain('history')
  })
})

describe('a home that is away', () => {
  /** Listens, and is no agent home. */
  const other = createServer(({ url }, response) =>
    response.writeHead(url === '/mcp' ? 404 : 200).end('<h1>nothing</h1>'),
  )
  let address: string
  beforeAll(async () => {
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  })
  afterAll(() => void other.close())

  const textOf = (result: object) => textIn({ result })

  test.each([
    [
      'a token that was never given',
      () => [opened.url, never],
      /^invalid_token: .*\. Check AGENT_HOME_TOKEN, or save a token that is valid: agent-home login URL\./,
    ],
    [
      'an address of nobody',
      () => ['http://127.0.0.1:2', token],
      /^The agent home at \S+ does not answer \(.+\)\. Nothing was changed\. Check AGENT_HOME_URL, and whether the service is running\.$/,
    ],
    [
      'an address of another',
      () => [address, token],
      /answered 404: it is not an agent home\. Check AGENT_HOME_URL/,
    ],
    [
      'an address of a page',
      () => [`${address}/page`, token],
      /answered 200: it is not an agent home\. Check AGENT_HOME_URL/,
    ],
  ] satisfies [string, () => [string, string], RegExp][])(
    '%s: says what it is and has, and with each call what is wrong',
    async (_, place, sentence) => {
      const { said, answers } = await relayed(...place(), [
        initialize,
        { jsonrpc: '2.0', method: 'notifications/initialized' },
        { jsonrpc: '2.0', id: 2, method: 'tools/list' },
        { jsonrpc: '2.0', id: 3, method: 'resources/list' },
        calling(4, 'read_memory', { key: 'plan' }),
        calling(5, 'write_memory', { key: 'plan', text: 'x', expectedVersion: 0 }),
        { jsonrpc: '2.0', id: 6, method: 'resources/read', params: { uri: 'memory:///plan' } },
        { jsonrpc: '2.0', id: 7, method: 'ping' },
      ])
      const answer = (id: number) => answers.find((each) => each.id === id)
      expect(answer(1).result).toMatchObject({
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'agent-home' },
      })
      expect(answer(2).result.tools).toHaveLength(tools.length)
      expect(answer(3).result).toEqual({ resources: [] })
      for (const id of [4, 5]) {
        expect(answer(id).result).toMatchObject({ isError: true })
        expect(textOf(answer(id).result)).toMatch(sentence)
      }
      expect(answer(6).error.message).toMatch(sentence)
      expect(answer(7).result).toEqual({})
      expect(answers).toHaveLength(7)
      expect(said).toEqual([expect.stringMatching(sentence)])
    },
  )

  test.each(eras)(
    'a client of $version finds it when it comes, goes and is back',
    async ({ era }) => {
      const free = await listen(opened.service.app, '127.0.0.1', 0)
      const { port } = free
      await free.drain()
      const url = `http://127.0.0.1:${port}`
      const client = connecting(era)
      const transport = starting({ AGENT_HOME_URL: url, AGENT_HOME_TOKEN: token })
      await client.connect(transport)
      expect((await client.listTools()).tools).toHaveLength(tools.length)
      const read = async () => client.callTool({ name: 'read_memory', arguments: { key: 'here' } })
      const away = /^The agent home at \S+ does not answer/
      expect(textOf(await read())).toMatch(away)
      for (let n = 0; n < 2; n++) {
        const home = await listen(opened.service.app, '127.0.0.1', port)
        expect(textOf(await read())).toMatch(/^memory_not_found: /)
        const unknown = client.request({ method: 'no/such' }, z.looseObject({}))
        await expect(unknown).rejects.toMatchObject({ code: -32_601 })
        await home.drain()
        expect(textOf(await read())).toMatch(away)
      }
      await client.close()
    },
  )

  test('a write whose answer was lost may have been made', async () => {
    const lost = createServer((request) => request.socket.destroy())
    lost.listen(0, '127.0.0.1')
    await once(lost, 'listening')
    const url = `http://127.0.0.1:${(lost.address() as AddressInfo).port}`
    const { answers } = await relayed(url, token, [
      initialize,
      calling(2, 'write_memory', { key: 'k', text: 'x', expectedVersion: 0 }),
    ])
    const said = textOf(answers.find(({ id }) => id === 2).result)
    expect(said).toContain('A write may have been made: read before you repeat it.')
    expect(said).not.toContain('Nothing was changed')
    lost.close()
  })

  test('a port that is never asked has changed nothing', async () => {
    const { answers } = await relayed('http://127.0.0.1:1', token, [
      initialize,
      calling(2, 'write_memory', { key: 'k', text: 'x', expectedVersion: 0 }),
    ])
    const said = textIn(answers.find(({ id }) => id === 2))
    expect(said).toMatch(/\(bad port\)\. Nothing was changed\./)
  })

  test('a home that takes messages and answers none is waited for, but not for ever', async () => {
    const { url, asked } = await silent()
    const { say, heard, pass, end } = session(url)
    const write = { key: 'k', text: 'x', expectedVersion: 0 }
    const offered = ['server/discover', 'tools/list', 'prompts/list', 'resources/list']
    say(initialize)
    for (const [n, method] of [...offered, 'resources/templates/list'].entries())
      say(asking(n + 2, method))
    say(calling(7, 'write_memory', write))
    await asked(7)
    pass(5_000)
    const first = await heard(6)
    expect(first.map(({ id }) => id).toSorted()).toEqual([1, 2, 3, 4, 5, 6])
    expect(first.find(({ id }) => id === 3).result.tools).toHaveLength(tools.length)
    // Its input ends while the call is still to come.
    const ended = end()
    pass(25_000)
    const [last] = await heard(1)
    expect(textIn(last)).toMatch(
      /does not answer \(no answer for 30 seconds\)\. A write may have been made/,
    )
    await ended
  })

  test('not all calls are on their way at once', async () => {
    const { url, asked, seen } = await silent()
    const { say, heard, pass, end } = session(url)
    for (let id = 1; id <= 100; id++) say(calling(id, 'append_memory', { key: 'k', text: 'x' }))
    // Subscriptions do not count.
    for (let id = 101; id <= 140; id++) say(asking(id, 'subscriptions/listen'))
    await asked(64)
    pass(30_000)
    const said = (await heard(140)).filter(({ id }) => id <= 100).map(textIn)
    expect(said.filter((each) => each.includes('A write may have been made'))).toHaveLength(24)
    expect(said.filter((each) => each.includes('Nothing was changed'))).toHaveLength(76)
    expect(seen()).toBe(64)
    await end()
  })

  test('calls that wait for others are made when those are done', async () => {
    const { url } = opened
    const calls = Array.from({ length: 100 }, (_, n) => calling(n + 2, 'list_memories'))
    const { answers } = await relayed(url, token, [initialize, ...calls])
    expect(answers.filter(({ result }) => result && !result.isError)).toHaveLength(101)
  })

  const JSON_TYPE = { 'Content-Type': 'application/json' }
  const streamOf = (message: object): RequestListener => {
    const text = `event: message\ndata: ${JSON.stringify(message)}\n\n`
    return (_, response) =>
      void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(text)
  }
  const foreign = { jsonrpc: '2.0', id: 99, result: { tools: [] } }

  test.each<[string, RequestListener]>([
    ['JSON of its own', (_, response) => response.writeHead(200, JSON_TYPE).end('{"hello":1}')],
    ['what is no JSON', (_, response) => response.writeHead(200, JSON_TYPE).end('not json')],
    ['202', (_, response) => response.writeHead(202).end()],
    [
      'to another request',
      (_, response) => response.writeHead(200, JSON_TYPE).end(JSON.stringify(foreign)),
    ],
    ['a stream', streamOf(foreign)],
    [
      'without end',
      (_, response) => {
        response.writeHead(200, JSON_TYPE)
        const more = () => void response.write('1'.repeat(1_048_576), (e) => e || more())
        more()
      },
    ],
  ])('what answers %s is not an agent home', async (_, answer) => {
    const url = await serving((request, response) =>
      request.url === '/mcp' ? answer(request, response) : response.writeHead(404).end(),
    )
    const { answers, said } = await relayed(url, token, [
      initialize,
      asking(2, 'tools/list'),
      calling(3, 'list_memories'),
    ])
    const sentence = /^\S+ answered 20[02]: it is not an agent home\. Check AGENT_HOME_URL/
    expect(answers.map(({ id }) => id).toSorted()).toEqual([1, 2, 3])
    expect(answers.find(({ id }) => id === 2).result.tools).toHaveLength(tools.length)
    expect(textIn(answers.find(({ id }) => id === 3))).toMatch(sentence)
    expect(said).toEqual([expect.stringMatching(sentence)])
  })

  test('an error that names no request is of the one that was asked', async () => {
    const refused = {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32_000, message: 'No such version' },
    }
    const url = await serving((_, response) =>
      response.writeHead(400, JSON_TYPE).end(JSON.stringify(refused)),
    )
    const { answers } = await relayed(url, token, [asking(1, 'tools/list')])
    expect(answers).toEqual([{ ...refused, id: 1 }])
  })

  test('a token that is saved while it runs is used from the next call on', async () => {
    const input = new PassThrough()
    const output = new PassThrough()
    const said: string[] = []
    let saved: string | undefined
    const connection = () => {
      if (saved === undefined) throw new Failure(2, 'No token: save one.')
      return { url: opened.url, token: saved, profile: undefined, notice: () => {} }
    }
    const ended = relay(connection, { input, output, say: (each) => void said.push(each) })
    const lines = createInterface({ input: output })[Symbol.asyncIterator]()
    const ask = async (message: object) => {
      input.write(`${JSON.stringify(message)}\n`)
      return JSON.parse(String((await lines.next()).value))
    }
    await ask(initialize)
    expect(textOf((await ask(calling(2, 'list_memories'))).result)).toBe('No token: save one.')
    saved = token
    expect((await ask(calling(3, 'list_memories'))).result.isError).toBeUndefined()
    input.end()
    await ended
    expect(said).toEqual(['No token: save one.'])
  })
})

describe('who set it up wrongly is told', () => {
  test.each([
    [{ AGENT_HOME_TOKEN: undefined }, /^No token: set AGENT_HOME_TOKEN/],
    [{ AGENT_HOME_TOKEN: 'aha_short' }, /^That is not a token of an agent home/],
    [{ AGENT_HOME_URL: 'home' }, /AGENT_HOME_URL: must be the http or https address/],
  ])('a program at each call, a person at once: %o', async (env, sentence) => {
    const { AGENT_HOME_TOKEN, ...rest } = { ...remote(), ...env }
    const set = { ...rest, ...(AGENT_HOME_TOKEN !== undefined && { AGENT_HOME_TOKEN }) }
    const { code, stderr, answers } = await scripted(set, [initialize, calling(2, 'get_context')])
    expect(code).toBe(0)
    const [{ text }] = answers.find(({ id }) => id === 2).result.content
    expect(text).toMatch(sentence)
    expect(text).not.toContain('aha_short')
    expect(stderr).toBe(`${text}\n`)
    for (const [name, value] of Object.entries({ ...remote(), ...env })) vi.stubEnv(name, value)
    const typed = await speak(['mcp'], undefined, terminalOf({ isTyped: true }))
    expect([typed.code, typed.stdout]).toEqual([expect.any(Number), ''])
    expect(typed.code).toBeGreaterThan(0)
    expect(typed.stderr).toMatch(sentence)
  })

  test.each([
    [{ hello: 'there' }],
    [[asking(1, 'ping'), asking(2, 'ping')]],
    [{ ...asking(1, 'ping'), id: null }],
  ])('what is no message: %j', async (message) => {
    const { said } = await relayed(opened.url, token, [message])
    expect(said).toEqual([
      'The input is not an MCP message: each line is one JSON-RPC 2.0 object; a batch, or an id that is neither a string nor an integer, is not answered.',
    ])
  })
})
