import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Born,
  birthBody,
  engines,
  freshKey,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'

describe.each(engines)('what operators control on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const replace = (token: string, key: string) =>
    service.call('POST', '/api/agents/me/operator-keys', {
      token,
      headers: { 'idempotency-key': key },
    })
  const profile = (token: string) => service.call('GET', '/api/agents/me', { token })
  const bornAgain = ({ idempotencyKey }: Born) =>
    service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': idempotencyKey },
      body: birthBody,
    })

  test('a new operator token voids the old one, and the birth is not replayed', async () => {
    const born = await service.birth()
    const { status, body } = await replace(born.operatorToken, freshKey())
    expect(status).toBe(200)
    expect(body).toEqual({ operator_token: expect.stringMatching(/^aho_[0-9A-Za-z]{49}$/) })
    expectProblem(await profile(born.operatorToken), 'invalid_token')
    expect((await profile(String(body.operator_token))).status).toBe(200)
    expect((await profile(born.token)).status).toBe(200)
    expectProblem(await bornAgain(born), 'credentials_rotated')
  })

  test('a lost answer is had again with the old token and the same key, and with nothing else', async () => {
    const { token, operatorToken } = await service.birth()
    const stranger = await service.birth()
    const key = freshKey()
    const first = (await replace(operatorToken, key)).body
    expect((await replace(operatorToken, key)).body).toEqual(first)
    expect((await replace(String(first.operator_token), key)).body).toEqual(first)
    expectProblem(await replace(operatorToken, freshKey()), 'invalid_token')
    expectProblem(await replace(token, key), 'insufficient_scope')
    const theirs = (await replace(stranger.operatorToken, key)).body
    expect(theirs).not.toEqual(first)
    const next = (await replace(String(first.operator_token), freshKey())).body
    expectProblem(await replace(operatorToken, key), 'invalid_token')
    expect((await profile(String(next.operator_token))).status).toBe(200)
  })

  test('of many calls at once with one key all get the same token', async () => {
    const { operatorToken } = await service.birth()
    const key = freshKey()
    const answers = await Promise.all(Array.from({ length: 32 }, () => replace(operatorToken, key)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
  })

  test('a key that is malformed or was printed is refused, and nothing changes', async () => {
    const { operatorToken } = await service.birth()
    const printed = '3f7a1c0de5b24968a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718'
    for (const key of ['', 'guess', freshKey().toUpperCase(), printed]) {
      expectProblem(await replace(operatorToken, key), 'invalid_idempotency_key')
    }
    expect((await profile(operatorToken)).status).toBe(200)
  })

  test('the agent leaves the account that it is in', async () => {
    const account = { email: 'leaves@example.org', password: 'correct horse battery' }
    const { agentId, operatorToken } = await service.birth(account)
    const { id = '' } = (await service.store.findAccount(account.email)) ?? {}
    expect(await service.store.identifyOwner(id, agentId)).toBeDefined()
    await replace(operatorToken, freshKey())
    expect(await service.store.identifyOwner(id, agentId)).toBeUndefined()
  })

  const change = (token: string, body: object) =>
    service.call('PATCH', '/api/agents/me/profile', { token, body })

  test('of the profile what is sent changes, and what is left out stays', async () => {
    const { token, operatorToken } = await service.birth()
    const changed = await change(operatorToken, { name: 'Мрія', symbol: 'mriya' })
    const { purpose } = birthBody
    expect(changed.body).toMatchObject({ profile: { name: 'Мрія', symbol: 'mriya', purpose } })
    expect((await profile(token)).body).toEqual(changed.body)
  })

  test.each([{}, { name: '' }, { purpose: null }, { symbol: 'nothing' }, { status: 'paused' }])(
    'a profile is not changed by %j',
    async (body) => {
      const { operatorToken } = await service.birth()
      expectProblem(await change(operatorToken, body), 'invalid_body')
    },
  )

  const erase = (token: string, agentId: string) =>
    service.call('POST', '/api/agents/me/erase', { token, body: { agent_id: agentId } })

  test('an agent is erased by its own id alone, and nothing of it answers then', async () => {
    const older = await service.birth()
    const born = await service.birth()
    const other = await service.birth()
    await write(service, born.token, 'plan', 'Step 1')
    for (const { agentId } of [older, other]) {
      const wrong = await erase(born.operatorToken, agentId)
      expectProblem(wrong, 'invalid_body')
      expect(wrong.body.errors).toMatchObject([{ pointer: '/agent_id' }])
    }
    const erased = await erase(born.operatorToken, born.agentId)
    expect([erased.status, erased.body]).toEqual([200, { erased: { agent_id: born.agentId } }])
    for (const token of [born.token, born.operatorToken]) {
      expectProblem(await profile(token), 'invalid_token')
    }
    expectProblem(await erase(born.operatorToken, born.agentId), 'invalid_token')
    expect((await profile(other.token)).status).toBe(200)
    const again = await bornAgain(born)
    expect(again.status).toBe(201)
    expect(again.body.agent_id).not.toBe(born.agentId)
  })
})
