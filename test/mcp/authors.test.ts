/** Each engine keeps by which door a memory was written, and an export takes it along. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, openService, type TestService } from '../harness.ts'
import { post, toolCall } from './messages.ts'

describe.each(engines)('on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const by = { as: 'agent', via: 'mcp' }

  const get = async (token: string, path: string) =>
    (await service.call('GET', `/api/agents/me/${path}`, { token })).body

  test('what was written by MCP says so: in its versions, in the log, in an export', async () => {
    const { token, operatorToken } = await service.birth()
    const calls = [
      toolCall('write_memory', { key: 'plan', text: 'Step 1', expectedVersion: 0 }),
      toolCall('append_memory', { key: 'plan', text: ', step 2' }),
      toolCall('delete_memory', { key: 'plan', expectedVersion: 2 }),
      toolCall('restore_memory', { key: 'plan', version: 1, expectedVersion: 0 }),
    ]
    for (const body of calls) {
      expect((await post(service, { token, body })).body).not.toMatchObject({
        result: { isError: true },
      })
    }
    const { versions } = await get(token, 'memory/versions?key=plan')
    expect(versions).toMatchObject(
      ['restore', 'delete', 'append', 'write'].map((operation) => ({ operation, by })),
    )
    const { events } = await get(token, 'events')
    expect(events).toMatchObject(
      ['write', 'append', 'delete', 'restore'].map((type) => ({ type, by })),
    )
    const exported = await get(operatorToken, 'export?history=true')
    const other = await service.birth()
    const imported = await service.call('POST', '/api/agents/me/import', {
      token: other.operatorToken,
      body: exported,
    })
    expect(imported.status).toBe(200)
    const kept = await get(other.token, 'memory/versions?key=plan')
    expect(kept.versions).toEqual(versions)
  })

  const named = async (name: string, run?: string) => {
    const { token } = await service.birth()
    const { params, ...call } = toolCall('append_memory', { key: 'log', text: 'a' })
    const _meta = { 'io.modelcontextprotocol/clientInfo': { name, version: '1' } }
    const body = { ...call, params: { ...params, _meta } }
    const headers = run === undefined ? {} : { 'agent-run': run }
    await post(service, { token, headers, body })
    const history = await post(service, { token, body: toolCall('memory_history', { key: 'log' }) })
    const { versions } = await get(token, 'memory/versions?key=log')
    const [newest] = versions as readonly { readonly by: object }[]
    return { by: newest?.by, text: JSON.stringify(history.body) }
  }

  test('the run is the client’s name, unless the client names another', async () => {
    const { by: client, text } = await named(' claude-code ')
    expect(client).toEqual({ ...by, run: 'claude-code' })
    expect(text).toContain('by the agent through mcp (claude-code)')
    expect((await named('claude-code', 'seven')).by).toEqual({ ...by, run: 'seven' })
  })

  test.each(['', 'x'.repeat(81), 'a\nb'])('a client named %j has no run', async (name) => {
    const { by: client, text } = await named(name)
    expect(client).toEqual(by)
    expect(text).toContain('through mcp')
    expect(text).not.toContain('mcp (')
  })
})
