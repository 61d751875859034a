/** `agent-home mcp`: by the official client in both eras, and by scripts that make mistakes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '../../src/mcp/tools/index.ts'
import { tokenFrom } from '../../src/pipeline/tokens.ts'
import { connecting, eras } from '../mcp/clients.ts'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'
import { calling, initialize, scripted, starting } from './stdio.ts'

let server: Server
let token: string
beforeAll(async () => {
  server = await serve({ directory: freshDirectory() })
  token = (await birth(server.url)).token
})
afterAll(cleanUp)

const remote = () => ({ AGENT_HOME_URL: server.url, AGENT_HOME_TOKEN: token })

const never = tokenFrom('agent', Buffer.alloc(32, 7))

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

describe('the history', () => {
  const contextWith = async (env: Readonly<Record<string, string>>) => {
    const client = connecting('modern')
    await client.connect(starting(env))
    const { content, structuredContent } = await client.callTool({
      name: 'get_context',
      arguments: {},
    })
    await client.close()
    const texts = (content as { text: string }[]).map(({ text }) => text)
    return { said: texts.at(-1), history: (structuredContent as { history?: object }).history }
  }

  test('is remembered on this computer, and a context says whether it is still the same', async () => {
    const directory = freshDirectory()
    const own = await serve({ directory })
    const { token } = await birth(own.url)
    const env = {
      AGENT_HOME_URL: own.url,
      AGENT_HOME_TOKEN: token,
      XDG_CONFIG_HOME: freshDirectory(),
    }
    const first = await contextWith(env)
    expect(first.said).toBe('Your history is remembered from now on; its last event is 0.')
    const write = { key: 'plan', text: 'one', expectedVersion: 0 }
    const { code } = await scripted(env, [initialize, calling(2, 'write_memory', write)])
    expect(code).toBe(0)
    // What the last session did is remembered when it ends.
    const second = await contextWith(env)
    expect(second.said).toBe('Your history is unchanged: unbroken since event 1.')
    expect(second.history).toMatchObject({ outcome: 'unbroken', since: 1, head: { id: 1 } })

    const db = new DatabaseSync(join(directory, 'data', 'home.db'))
    db.exec('UPDATE homes SET head = zeroblob(32); UPDATE log SET hash = zeroblob(32)')
    db.close()
    for (let times = 0; times < 2; times++) {
      const { said, history } = await contextWith(env)
      expect(said).toMatch(/^WARNING\. Event 1 of this home differs from the remembered one/)
      expect(history).toMatchObject({ outcome: 'history_changed', remembered: { id: 1 } })
    }
  })

  test('is not spoken of to a key with a prefix', async () => {
    const { token, operator_token: operator } = await birth(server.url)
    const response = await fetch(`${server.url}/api/agents/me/keys/named`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operator}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'p', access: 'read', prefix: 'a' }),
    })
    const named = (await response.json()) as { token: string }
    const env = { AGENT_HOME_URL: server.url, XDG_CONFIG_HOME: freshDirectory() }
    const { said } = await contextWith({ ...env, AGENT_HOME_TOKEN: named.token })
    expect(said).not.toContain('history')
    expect((await contextWith({ ...env, AGENT_HOME_TOKEN: token })).said).toContain('history')
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
      () => ({ AGENT_HOME_TOKEN: never }),
      /^invalid_token: .*\. Check AGENT_HOME_TOKEN\.$/,
    ],
    [
      'an address of nobody',
      () => ({ AGENT_HOME_URL: 'http://127.0.0.1:2' }),
      /^The agent home at \S+ does not answer \(.+\)\. Check AGENT_HOME_URL, and whether the service is running\.$/,
    ],
    [
      'an address of another',
      () => ({ AGENT_HOME_URL: address }),
      /answered 404: it is not an agent home\. Check AGENT_HOME_URL/,
    ],
  ])('%s', async (_, env, sentence) => {
    const { code, stderr, answers } = await scripted({ ...remote(), ...env() }, [initialize])
    expect(code).toBe(0)
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -32_000, message: expect.stringMatching(sentence) } },
    ])
    expect(stderr.trim().split('\n')).toEqual([answers[0].error.message])
  })

  test.each([
    [2, { AGENT_HOME_TOKEN: '' }, 'No token: set AGENT_HOME_TOKEN'],
    [2, { AGENT_HOME_TOKEN: 'aha_short' }, 'That is not a token of an agent home'],
    [1, { AGENT_HOME_URL: 'home' }, 'AGENT_HOME_URL: must be the http or https address'],
  ])('ends with %i: %o', async (exit, env, sentence) => {
    const { code, stderr, answers } = await scripted({ ...remote(), ...env }, [initialize])
    expect({ code, answers }).toEqual({ code: exit, answers: [] })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('aha_short')
    expect(stderr).not.toContain('    at ')
  })

  test('what is no message', async () => {
    const { code, stderr } = await scripted(remote(), [{ hello: 'there' }])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^The input is not an MCP message/)
  })
})
