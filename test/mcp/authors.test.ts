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
})
