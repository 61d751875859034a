/** The prompts and the skill, what discovery says, and the other spelling of the address. */
import { createHash } from 'node:crypto'
import { type Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { tools } from '../../src/mcp/tools/index.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { connect, connecting, eras, fetchOf } from './clients.ts'
import { post, toolCall } from './messages.ts'

let service: TestService
let token: string
beforeAll(async () => {
  service = await openService(embedded)
  token = (await service.birth()).token
})
afterAll(() => service.close())

const skills = z.object({
  skills: z.array(
    z.object({
      uri: z.string(),
      frontmatter: z.object({ name: z.string(), description: z.string() }),
      resources: z.array(z.object({ uri: z.string(), digest: z.string(), size: z.number() })),
    }),
  ),
})

describe.each(eras)('a client of $version', ({ era }) => {
  let client: Client
  beforeEach(async () => {
    client = await connect(service, token, era)
  })

  async function promptOf(name: string, args: Record<string, string> = {}): Promise<string> {
    const { messages } = await client.getPrompt({ name, arguments: args })
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    const content = messages[0]?.content
    return content?.type === 'text' ? content.text : ''
  }

  test('finds three prompts, each short, that name only tools that are there', async () => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual(['wake', 'save-session', 'tidy'])
    const names = tools.map(({ name }) => name)
    for (const { name, description } of prompts) {
      const text = await promptOf(name)
      expect(description).toBeTruthy()
      expect(text.length).toBeLessThan(700)
      const named = text.match(/[a-z]+_[a-z]+/g) ?? []
      expect(named.length).toBeGreaterThan(0)
      expect(names).toEqual(expect.arrayContaining(named))
    }
  })

  test('puts what it is about into a prompt, as one quotation', async () => {
    expect(await promptOf('wake', { about: 'the "shop"\nand more' })).toContain(
      String.raw`about "the \"shop\"\nand more"`,
    )
    expect(await promptOf('tidy', { prefix: 'atlas.' })).toContain('with the prefix "atlas."')
    expect(await promptOf('tidy', { other: 'x' })).toBe(await promptOf('tidy'))
    for (const name of ['toString', '__proto__', 'none']) {
      await expect(promptOf(name)).rejects.toThrow(`There is no prompt ${name}`)
    }
  })

  test('finds the skill, whose text is what its digest says', async () => {
    expect(client.getServerCapabilities()?.extensions).toEqual({
      'io.modelcontextprotocol/skills': {},
    })
    const listed = await client.request({ method: 'skills/list', params: {} }, skills)
    const [skill] = listed.skills
    expect(skill?.frontmatter.name).toBe('agent-home')
    const uri = skill?.uri ?? ''
    const got = await client.request({ method: 'skills/get', params: { uri } }, z.looseObject({}))
    expect(got).toMatchObject({ skill })
    const [content] = (await client.readResource({ uri })).contents
    const text = content && 'text' in content ? content.text : ''
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`
    expect(skill?.resources).toEqual([{ uri, digest, size: Buffer.byteLength(text) }])
    expect(text.split('\n').length).toBeLessThan(16)
    const none = { method: 'skills/get', params: { uri: 'skill://none/SKILL.md' } }
    await expect(client.request(none, z.looseObject({}))).rejects.toThrow('No skill is at')
    await expect(client.readResource({ uri: 'skill://none/SKILL.md' })).rejects.toThrow('not found')
  })

  test('is served at the address with a slash at its end, too', async () => {
    const at = connecting(era)
    await at.connect(
      new StreamableHTTPClientTransport(new URL('http://127.0.0.1:8787/mcp/'), {
        fetch: fetchOf(service),
        requestInit: { headers: { authorization: `Bearer ${token}` } },
      }),
    )
    expect((await at.listTools()).tools).toHaveLength(tools.length)
  })
})

test('the address with a slash is guarded like the other, and is no other path', async () => {
  const ask = async (path: string, options: object) =>
    (await service.call('POST', path, { body: toolCall('list_memories', {}), ...options })).status
  expect(await ask('/mcp/', {})).toBe(401)
  expect(await ask('/mcp/', { token, headers: { origin: 'https://evil.example' } })).toBe(403)
  expect(await ask('/mcp/', { token })).toBe(200)
  expect(await ask('/mcp//', { token })).toBe(404)
  expect(await ask('/mcp/x', { token })).toBe(404)
})

describe('discovery', () => {
  const envelope = (version: string) => ({
    _meta: {
      'io.modelcontextprotocol/protocolVersion': version,
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  })

  const ask = async (method: string, params: object = {}, version = '2026-07-28') =>
    (
      await post(service, {
        token,
        headers: { 'mcp-protocol-version': version, 'mcp-method': method },
        body: { jsonrpc: '2.0', id: 1, method, params: { ...params, ...envelope(version) } },
      })
    ).body

  test('names the versions that are served without a handshake, and no others', async () => {
    const { result } = (await ask('server/discover')) as {
      result: { supportedVersions: string[] }
    }
    expect(result.supportedVersions).toEqual(['2026-07-28'])
    for (const version of result.supportedVersions) {
      expect(await ask('tools/list', {}, version)).toHaveProperty('result.tools')
    }
    expect(await ask('tools/list', {}, '2027-01-01')).toMatchObject({
      error: { data: { supported: expect.arrayContaining(result.supportedVersions) } },
    })
  })

  test.each([
    ['server/discover', {}, 300_000, 'public'],
    ['tools/list', {}, 300_000, 'public'],
    ['prompts/list', {}, 300_000, 'public'],
    ['resources/templates/list', {}, 300_000, 'public'],
    ['skills/list', {}, 300_000, 'public'],
    ['resources/list', {}, 0, 'private'],
    ['resources/read', { uri: 'memory:///plan' }, 0, 'private'],
  ])('%s says how long its answer holds', async (method, params, ttlMs, cacheScope) => {
    const write = { key: 'plan', text: 'x', expectedVersion: 0 }
    await post(service, { token, body: toolCall('write_memory', write) })
    const headers = method === 'resources/read' ? { 'mcp-name': 'memory:///plan' } : {}
    const { body } = await post(service, {
      token,
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...headers },
      body: { jsonrpc: '2.0', id: 1, method, params: { ...params, ...envelope('2026-07-28') } },
    })
    expect(body).toMatchObject({ result: { ttlMs, cacheScope } })
  })
})
