/** An append with an Idempotency-Key can be sent again: it is answered, and not made again. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, freshKey, openService, type TestService } from '../harness.ts'
import { post, toolCall } from '../mcp/messages.ts'
import { expectProblem } from '../problem.ts'

const me = '/api/agents/me'

interface Saved {
  readonly memory: { readonly text: string; readonly version: number }
}

describe.each(engines)('appends with a key on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const append = (token: string, key: string | undefined, body: object, prefer?: string) =>
    service.call('POST', `${me}/memory/append`, {
      token,
      headers: {
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(prefer !== undefined && { prefer }),
      },
      body,
    })
  const change = (token: string, path: string, body: object) =>
    service.call('POST', `${me}/${path}`, { token, body })
  const read = async (token: string, key = 'log') =>
    (await service.call('GET', `${me}/memory?key=${key}`, { token })).body.memory as Saved['memory']

  test('a repeated call is answered as the first was, and says so', async () => {
    const { token } = await service.birth()
    const [key, sent] = [freshKey(), { key: 'log', text: 'one' }]
    const first = await append(token, key, sent)
    expect(first.body).toMatchObject({ memory: { text: 'one', version: 1 } })
    expect(first.body).not.toHaveProperty('replayed')
    await append(token, freshKey(), { key: 'log', text: ', two' })
    const again = await append(token, key, { text: 'one', key: 'log' })
    expect(again.status).toBe(200)
    expect(again.body).toEqual({ ...first.body, replayed: true })
    expect(again.headers.get('etag')).toBe('"1"')
    const { text: _, metadata: __, ...receipt } = first.body.memory as Record<string, unknown>
    const minimal = await append(token, key, sent, 'return=minimal')
    expect(minimal.body).toEqual({ memory: receipt, replayed: true })
    expect(minimal.headers.get('preference-applied')).toBe('return=minimal')
    expect(await read(token)).toMatchObject({ text: 'one, two', version: 2 })
    const { events } = (await service.call('GET', `${me}/events`, { token })).body
    expect(events).toHaveLength(2)
  })

  test('of many at once one is made, and all are answered alike', async () => {
    const { token } = await service.birth()
    const key = freshKey()
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => append(token, key, { key: 'log', text: 'x' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.memory))).size).toBe(1)
    expect(answers.filter(({ body }) => body.replayed === true)).toHaveLength(31)
    expect((await read(token)).text).toBe('x')
  })

  test.each([
    ['another text', { key: 'log', text: 'two' }],
    ['another memory', { key: 'other', text: 'one' }],
    ['a version', { key: 'log', text: 'one', expectedVersion: 1 }],
  ])('with %s the same key is refused', async (_, sent) => {
    const { token } = await service.birth()
    const key = freshKey()
    await append(token, key, { key: 'log', text: 'one' })
    expectProblem(await append(token, key, sent), 'idempotency_key_reused')
    expect(await read(token)).toMatchObject({ text: 'one', version: 1 })
  })

  test('without a key, and after a conflict, nothing is remembered', async () => {
    const { token } = await service.birth()
    for (let n = 0; n < 2; n++) await append(token, undefined, { key: 'log', text: 'x' })
    expect((await read(token)).text).toBe('xx')
    const [key, sent] = [freshKey(), { key: 'log', text: 'y', expectedVersion: 3 }]
    expectProblem(await append(token, key, sent), 'version_conflict')
    await append(token, undefined, { key: 'log', text: 'z' })
    expect((await append(token, key, sent)).body).toMatchObject({ memory: { text: 'xxzy' } })
    expect((await append(token, key, sent)).body).toMatchObject({ replayed: true })
  })

  test('the key is that of the credential, whoever else sends an equal one', async () => {
    const { token, operatorToken } = await service.birth()
    const named = async (name: string) => {
      const body = { name, access: 'write', prefix: 'log' }
      const made = await change(operatorToken, 'keys/named', body)
      return String(made.body.token)
    }
    const key = freshKey()
    for (const each of [token, operatorToken, await named('a'), await named('b')]) {
      expect((await append(each, key, { key: 'log', text: 'x' })).body).not.toHaveProperty(
        'replayed',
      )
      expect((await append(each, key, { key: 'log', text: 'x' })).body).toMatchObject({
        replayed: true,
      })
    }
    expect((await read(token)).text).toBe('xxxx')
  })

  test('a key that may not write there appends nothing, and learns nothing', async () => {
    const { token, operatorToken } = await service.birth()
    const key = freshKey()
    await append(token, key, { key: 'log', text: 'x' })
    for (const limits of [{ access: 'read' }, { access: 'write', prefix: 'notes.' }]) {
      const made = await change(operatorToken, 'keys/named', { name: 'n', ...limits })
      const refused = await append(String(made.body.token), key, { key: 'log', text: 'x' })
      expect(refused.status).toBe(403)
    }
    expect((await read(token)).version).toBe(1)
  })

  test.each([
    [
      'renamed',
      'batch',
      { operations: [{ rename: { from: 'log', to: 'l', expectedVersion: 1 } }] },
    ],
    ['erased', 'memory/erase', { key: 'log', versions: 'all' }],
  ])('of a memory that was %s since, the answer is without the text', async (_, path, body) => {
    const { token, operatorToken } = await service.birth()
    const key = freshKey()
    const first = await append(token, key, { key: 'log', text: 'x' })
    expect((await change(operatorToken, path, body)).status).toBe(200)
    const { text: __, metadata: ___, ...receipt } = first.body.memory as Record<string, unknown>
    const again = await append(token, key, { key: 'log', text: 'x' })
    expect(again.body).toEqual({ memory: receipt, replayed: true })
  })

  test('a memory that was renamed to the key since is another, with versions of its own', async () => {
    const { token } = await service.birth()
    const key = freshKey()
    await append(token, key, { key: 'log', text: 'x' })
    await append(token, undefined, { key: 'other', text: 'y' })
    const rename = (from: string, to: string) => ({ rename: { from, to, expectedVersion: 1 } })
    const operations = [rename('log', 'l'), rename('other', 'log')]
    expect((await change(token, 'batch', { operations })).status).toBe(200)
    const theirs = await service.call('GET', `${me}/memory?key=log&version=1`, { token })
    expect(theirs.body).toMatchObject({ memory: { text: 'y' } })
    const again = await append(token, key, { key: 'log', text: 'x' })
    expect(again.body).toMatchObject({ memory: { key: 'log', version: 1 }, replayed: true })
    expect(again.text).not.toContain('"text"')
  })

  test('over MCP the header is heeded by this tool', async () => {
    const { token } = await service.birth()
    const headers = { 'idempotency-key': freshKey() }
    const body = toolCall('append_memory', { key: 'log', text: 'x' })
    const first = await post(service, { token, headers, body })
    expect(first.text).toContain('log is saved as version 1.')
    const again = await post(service, { token, headers, body })
    expect(again.text).toContain('Nothing was added again: log is saved as version 1.')
    expect((await read(token)).text).toBe('x')
    const bad = { token, headers: { 'idempotency-key': 'x' }, body }
    expect((await post(service, bad)).text).toContain('malformed_idempotency_key')
    const other = toolCall('read_memory', { key: 'log' })
    expect((await post(service, { ...bad, body: other })).text).not.toContain('malformed')
  })

  test.each(['', 'x', 'A'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)])(
    'the key %j is malformed',
    async (key) => {
      const { token } = await service.birth()
      const refused = await append(token, key, { key: 'log', text: 'x' })
      expectProblem(refused, 'malformed_idempotency_key')
      expect(await read(token)).toBeUndefined()
    },
  )

  test('a key that others know from our documentation is refused', async () => {
    const { token } = await service.birth()
    const key = '3f7a1c0de5b24968a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718'
    const refused = await append(token, key, { key: 'log', text: 'x' })
    expectProblem(refused, 'malformed_idempotency_key')
    expect(refused.body.detail).toContain('printed')
  })
})
