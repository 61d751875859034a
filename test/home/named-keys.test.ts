import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'

const path = '/api/agents/me/keys'
const HOUR_MS = 3_600_000

describe.each(engines)('named keys on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const make = (token: string, body: object) =>
    service.call('POST', `${path}/named`, { token, body })
  const list = (token: string) => service.call('GET', path, { token })
  const read = (token: string, key: string) =>
    service.call('GET', `${memoryPath}?key=${key}`, { token })

  async function made(operatorToken: string, body: object) {
    const answer = await make(operatorToken, { name: 'CI', access: 'write', ...body })
    expect(answer.status).toBe(201)
    const { id } = answer.body.key as { id: string }
    return { id, token: String(answer.body.token) }
  }

  test('one is made with its token, which no list shows', async () => {
    const { operatorToken } = await service.birth()
    const { body } = await make(operatorToken, { name: 'Nightly', access: 'read', prefix: 'a.' })
    const key = {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Nightly',
      access: 'read',
      prefix: 'a.',
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
    }
    expect(body).toEqual({ key, token: expect.stringMatching(/^aha_[0-9A-Za-z]{49}$/) })
    const listed = await list(operatorToken)
    expect(listed.body).toEqual({ keys: [key] })
    expect(listed.text).not.toContain(String(body.token))
  })

  test('it reads and writes under its prefix alone, and says so elsewhere', async () => {
    const { token, operatorToken } = await service.birth()
    await write(service, token, 'plan', 'mine')
    const key = await made(operatorToken, { prefix: 'ci.' })
    expect((await write(service, key.token, 'ci.run', 'green')).status).toBe(200)
    expect((await read(key.token, 'ci.run')).status).toBe(200)
    for (const refused of [
      await write(service, key.token, 'plan', 'not mine', 1),
      await read(key.token, 'plan'),
      await read(key.token, 'absent'),
    ]) {
      expectProblem(refused, 'key_out_of_reach')
      expect(refused.body.detail).toContain('start with "ci."')
    }
    const { body } = await service.call('GET', '/api/agents/me/export', { token: key.token })
    expect(body).toMatchObject({ memoryCount: 1, memories: [{ key: 'ci.run' }] })
    expect((await service.call('GET', '/api/agents/me', { token: key.token })).status).toBe(200)
  })

  test('with read access it changes nothing', async () => {
    const { token, operatorToken } = await service.birth()
    await write(service, token, 'plan', 'mine')
    const key = await made(operatorToken, { access: 'read' })
    expectProblem(await write(service, key.token, 'plan', 'new', 1), 'key_read_only')
    expect((await read(key.token, 'plan')).body).toMatchObject({ memory: { text: 'mine' } })
  })

  test('it is no operator’s, and makes no other', async () => {
    const { operatorToken } = await service.birth()
    const key = await made(operatorToken, {})
    expectProblem(await make(key.token, { name: 'x', access: 'read' }), 'insufficient_scope')
    expectProblem(await list(key.token), 'insufficient_scope')
  })

  test('it ends at its time, with a sentence that says so', async () => {
    const { operatorToken } = await service.birth()
    const expiresAt = new Date(service.now() + HOUR_MS).toISOString()
    const key = await made(operatorToken, { expiresAt })
    expect((await write(service, key.token, 'a', 'x')).status).toBe(200)
    service.tick(HOUR_MS + 1_000)
    const late = await write(service, key.token, 'b', 'x')
    expectProblem(late, 'key_expired')
    expect(late.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect((await list(operatorToken)).body).toMatchObject({ keys: [{ expiresAt }] })
  })

  test('one that is ended is void at once, and the others are not', async () => {
    const { token, operatorToken } = await service.birth()
    const [ended, stays] = [await made(operatorToken, {}), await made(operatorToken, {})]
    const end = () => service.call('DELETE', `${path}/${ended.id}`, { token: operatorToken })
    expect((await end()).body).toMatchObject({ key: { id: ended.id } })
    expectProblem(await write(service, ended.token, 'a', 'x'), 'invalid_token')
    expect((await write(service, stays.token, 'a', 'x')).status).toBe(200)
    expect((await write(service, token, 'b', 'x')).status).toBe(200)
    expectProblem(await end(), 'key_not_found')
  })

  test('the log names what was made and ended, but not to one that sees a prefix', async () => {
    const { operatorToken } = await service.birth()
    const key = await made(operatorToken, { name: 'Nightly' })
    const { id, token } = await made(operatorToken, { prefix: 'ci.' })
    await service.call('DELETE', `${path}/${key.id}`, { token: operatorToken })
    const log = (token: string) => service.call('GET', '/api/agents/me/events', { token })
    const { events } = (await log(operatorToken)).body as { events: { by: object }[] }
    const shown = events.map(({ by, ...event }) => ({ ...event, createdAt: undefined }))
    expect(shown).toMatchObject([
      { id: 1, type: 'create_key', namedKey: { id: key.id, name: 'Nightly' } },
      { id: 2, type: 'create_key', namedKey: { id, name: 'CI' } },
      { id: 3, type: 'revoke_key', namedKey: { id: key.id, name: 'Nightly' } },
    ])
    expect((await log(token)).body).toEqual({ events: [], next: null })
  })

  test('the panic button ends all of them, and a pause pauses them', async () => {
    const { operatorToken } = await service.birth()
    const key = await made(operatorToken, {})
    const pause = (status: string) =>
      service.call('PATCH', '/api/agents/me', { token: operatorToken, body: { status } })
    await pause('paused')
    expectProblem(await write(service, key.token, 'a', 'x'), 'agent_paused')
    await pause('active')
    expect((await write(service, key.token, 'a', 'x')).status).toBe(200)
    await service.call('POST', path, { token: operatorToken })
    expectProblem(await write(service, key.token, 'b', 'x'), 'invalid_token')
    expect((await list(operatorToken)).body).toEqual({ keys: [] })
  })

  test('the list tells when each was last used', async () => {
    const { operatorToken } = await service.birth()
    const key = await made(operatorToken, {})
    await write(service, key.token, 'a', 'x')
    await expect
      .poll(async () => (await list(operatorToken)).body.keys)
      .toMatchObject([{ lastUsedAt: expect.any(String) }])
  })

  test.each([
    [{ access: 'read' }, '/name'],
    [{ name: '', access: 'read' }, '/name'],
    [{ name: 'x'.repeat(81), access: 'read' }, '/name'],
    [{ name: 'x', access: 'admin' }, '/access'],
    [{ name: 'x', access: 'read', prefix: '' }, '/prefix'],
    [{ name: 'x', access: 'read', prefix: 'a b' }, '/prefix'],
    [{ name: 'x', access: 'read', expiresAt: 'tomorrow' }, '/expiresAt'],
    [{ name: 'x', access: 'read', expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
    [{ name: 'x', access: 'read', scope: 'all' }, '/scope'],
  ])('what is sent as %j is refused at %s', async (body, pointer) => {
    const { operatorToken } = await service.birth()
    const answer = await make(operatorToken, body)
    expectProblem(answer, 'invalid_body')
    expect(answer.body.errors).toMatchObject([{ pointer }])
  })
})
