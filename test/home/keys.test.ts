import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'

const path = '/api/agents/me/keys'

describe.each(engines)('key rotation on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const rotate = (token: string) => service.call('POST', path, { token })
  const profile = (token: string) => service.call('GET', '/api/agents/me', { token })

  test(
    'it gives a new agent token, and the old one is void at once',
    proves('keys.result', 'keys.revoke', 'endpoint.keys', 'service.controls'),
    async () => {
      const { token, operatorToken } = await service.birth()
      await write(service, token, 'plan', 'Step 1')
      const rotated = await rotate(operatorToken)
      expect(rotated.status).toBe(200)
      expect(rotated.body).toEqual({ token: expect.stringMatching(/^aha_[0-9A-Za-z]{49}$/) })
      expect(rotated.body.token).not.toBe(token)
      const old = await profile(token)
      expectProblem(old, 'invalid_token')
      expect(old.headers.get('www-authenticate')).toContain('error="invalid_token"')
      const found = await service.call('GET', `${memoryPath}?key=plan`, {
        token: String(rotated.body.token),
      })
      expect(found.body).toMatchObject({ memory: { text: 'Step 1' } })
      expect((await profile(operatorToken)).status).toBe(200)
    },
  )

  test('each rotation voids the token of the one before', async () => {
    const { operatorToken } = await service.birth()
    const tokens: string[] = []
    for (let n = 0; n < 4; n++) tokens.push(String((await rotate(operatorToken)).body.token))
    const statuses = await Promise.all(tokens.map(async (token) => (await profile(token)).status))
    expect(statuses).toEqual([401, 401, 401, 200])
  })

  test('of rotations at once, one token is valid afterwards and was told', async () => {
    const { token, operatorToken } = await service.birth()
    const answers = await Promise.all(Array.from({ length: 16 }, () => rotate(operatorToken)))
    const tokens = answers.map(({ body }) => String(body.token))
    expect(new Set(tokens).size).toBe(16)
    const statuses = await Promise.all(tokens.map(async (known) => (await profile(known)).status))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect((await profile(token)).status).toBe(401)
  })

  test('writes under way when the key rotates are saved before it or refused after it', async () => {
    const { token, operatorToken } = await service.birth()
    const writes = Array.from({ length: 40 }, (_, n) => write(service, token, `k${n}`, 'x'))
    await rotate(operatorToken)
    const statuses = (await Promise.all(writes)).map(({ status }) => status)
    expect(new Set([...statuses, 200, 401])).toEqual(new Set([200, 401]))
    const { body } = await profile(operatorToken)
    expect(body.memoryCount).toBe(statuses.filter((status) => status === 200).length)
    expect((await write(service, token, 'late', 'x')).status).toBe(401)
  })

  test('a rotation while the agent is paused works, and the new token is paused', async () => {
    const { operatorToken } = await service.birth()
    await service.call('PATCH', '/api/agents/me', {
      token: operatorToken,
      body: { status: 'paused' },
    })
    const token = String((await rotate(operatorToken)).body.token)
    expectProblem(await write(service, token, 'plan', 'x'), 'agent_paused')
  })

  test(
    'the agent token may not rotate the key',
    proves('auth.operator-only', 'auth.403.permission', 'errors.keys.403'),
    async () => {
      const { token } = await service.birth()
      expectProblem(await rotate(token), 'insufficient_scope')
      expect((await profile(token)).status).toBe(200)
    },
  )
})
