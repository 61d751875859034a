/** `agent-home mcp`: by the official client in both eras, and by scripts that make mistakes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { PassThrough, Readable } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { relay } from '../../src/cli/remote/mcp/mcp.ts'
import { tools } from '../../src/mcp/tools/index.ts'
import { tokenFrom } from '../../src/pipeline/tokens.ts'
import { speak } from '../cli/spoken.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
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
  await relay(connection, { input, output, say: () => {} })
  expect(await runOf('named.by-option')).toBe('seven')
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
  expect(read.structuredContent).toMatchObject({ memory: { text: 'Step 1', version: 1 } })
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
  const connection = { url, token, profile: undefined, notice: () => {} }
  const input = new PassThrough()
  const ended = relay(connection, { input, output: new PassThrough().resume(), say: () => {} })
  const say = (message: object) => input.write(`${JSON.stringify(message)}\n`)
  say(initialize)
  await asked.promise
  say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: initialize.id } })
  await left.promise
  input.end()
  await ended
  server.close()
})

describe('the history', () => {
  const contextOf = async (url: string, by: string) => {
    const { answers } = await relayed(url, by, [initialize, calling(2, 'get_context')])
    const { content, structuredContent } = answers.find(({ id }) => id === 2).result
    return { said: content.at(-1).text, history: structuredContent.history }
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
    expect(second.history).toMatchObject({ outcome: 'unbroken', since: 1, head: { id: 1 } })

    const db = new DatabaseSync(own.service.store.location)
    db.exec('UPDATE homes SET head = zeroblob(32); UPDATE log SET hash = zeroblob(32)')
    db.close()
    for (let times = 0; times < 2; times++) {
      const { said, history } = await contextOf(own.url, token)
      expect(said).toMatch(/^WARNING\. Event 1 of this home differs from the remembered one/)
      expect(history).toMatchObject({ outcome: 'history_changed', remembered: { id: 1 } })
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

describe('who set it up wrongly is told', () => {
  /** Listens, and is no agent home. */
  const other = createServer((_, response) => response.writeHead(404).end('<h1>nothing</h1>'))
  let address: string
  beforeAll(async () => {
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    address = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  })
  afterAll(() => void other.close())

  test.each([
    [
      'a token that was never given',
      () => [opened.url, never],
      /^invalid_token: .*\. Check AGENT_HOME_TOKEN\.$/,
    ],
    [
      'an address of nobody',
      () => ['http://127.0.0.1:2', token],
      /^The agent home at \S+ does not answer \(.+\)\. Check AGENT_HOME_URL, and whether the service is running\.$/,
    ],
    [
      'an address of another',
      () => [address, token],
      /answered 404: it is not an agent home\. Check AGENT_HOME_URL/,
    ],
  ] satisfies [string, () => [string, string], RegExp][])('%s', async (_, place, sentence) => {
    const { said, answers } = await relayed(...place(), [initialize])
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: expect.stringMatching(sentence) } },
    ])
    expect(said).toEqual([answers[0].error.message])
  })

  test.each([
    [2, { AGENT_HOME_TOKEN: undefined }, 'No token: set AGENT_HOME_TOKEN'],
    [2, { AGENT_HOME_TOKEN: 'aha_short' }, 'That is not a token of an agent home'],
    [1, { AGENT_HOME_URL: 'home' }, 'AGENT_HOME_URL: must be the http or https address'],
  ])('ends with %i: %o', async (exit, env, sentence) => {
    for (const [name, value] of Object.entries({ ...remote(), ...env })) vi.stubEnv(name, value)
    const { code, stdout, stderr } = await speak(['mcp'])
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('aha_short')
    expect(stderr).not.toContain('    at ')
  })

  test('what is no message', async () => {
    const { said } = await relayed(opened.url, token, [{ hello: 'there' }])
    expect(said).toEqual([expect.stringMatching(/^The input is not an MCP message/)])
  })
})
