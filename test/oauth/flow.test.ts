/** From an address to a token: what a client does, on every engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, openService, type TestService } from '../harness.ts'
import {
  backAt,
  callTool,
  codeFor,
  decide,
  letIn,
  type Operator,
  operatorOf,
  post,
  REDIRECT,
  redeem,
  refresh,
  register,
  request,
  tokensIn,
} from './client.ts'

const ISSUER = 'http://127.0.0.1:8787'

describe.each(engines)('OAuth on $name', (engine) => {
  let service: TestService
  let operator: Operator
  beforeAll(async () => {
    service = await openService(engine, { OAUTH_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' })
    operator = await operatorOf(service)
  })
  afterAll(() => service.close())

  const keys = async ({ operatorToken: token }: Operator = operator) =>
    (await service.call('GET', '/api/agents/me/keys', { token })).body.keys as object[]

  const eventsOf = async ({ operatorToken: token }: Operator) => {
    const { body } = await service.call('GET', '/api/agents/me/events', { token })
    return (body.events as { type: string }[]).map(({ type }) => type)
  }

  test('a client that registered is let in, and what it writes bears its name', async () => {
    const clientId = await register(service)
    const back = backAt(await decide(service, operator, request(clientId)))
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT)
    const { code, state, iss } = Object.fromEntries(back.searchParams)
    expect({ state, iss }).toEqual({ state: 'a state', iss: ISSUER })
    const answer = await redeem(service, clientId, code ?? '')
    expect(answer.body).toMatchObject({
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'memory:read memory:write',
    })
    const { access } = tokensIn(answer)
    expect(access).toMatch(/^aha_/)
    const written = await callTool(service, access, 'write_memory', {
      key: 'a',
      text: 'b',
      expectedVersion: 0,
    })
    expect(written.text).toContain('is saved as version 1')
    const events = await service.call('GET', '/api/agents/me/events?order=newest&limit=1', {
      token: operator.operatorToken,
    })
    expect(events.body).toMatchObject({
      events: [{ type: 'write', by: { as: 'agent', via: 'mcp', key: { name: 'Claude' } } }],
    })
  })

  test('what is granted is a named key, listed with its client', async () => {
    const own = await operatorOf(service)
    const { clientId } = await letIn(service, own, { access: 'read', prefix: 'x.', days: '30' })
    const endIn = (days: number) =>
      new Date(service.now() + days * 86_400_000).toISOString().slice(0, 10)
    expect(await keys(own)).toMatchObject([
      {
        name: 'Claude',
        access: 'read',
        prefix: 'x.',
        expiresAt: expect.stringContaining(endIn(30)),
        client: { id: clientId, redirectHost: 'client.example' },
      },
    ])
    // What nobody uses for so long ends before its year does.
    const other = await operatorOf(service)
    await letIn(service, other, { days: '365' })
    expect(await keys(other)).toMatchObject([{ expiresAt: expect.stringContaining(endIn(90)) }])
  })

  test('a new home is born right there, in the operator’s account', async () => {
    const own = await operatorOf(service)
    const { access } = await letIn(service, own, { home: 'new', name: 'Second' })
    const context = await callTool(service, access, 'get_context')
    expect(JSON.stringify(context.body)).toContain('Second')
    expect((await own.open('/console')).text).toContain('Second')
  })

  test('refresh tokens are replaced with each use, and access tokens stay until their end', async () => {
    const first = await letIn(service, operator)
    const second = tokensIn(await refresh(service, first.clientId, first.refresh))
    const third = tokensIn(await refresh(service, first.clientId, second.refresh))
    for (const { access } of [first, second, third]) {
      expect((await callTool(service, access, 'get_context')).status).toBe(200)
    }
    expect(new Set([first.refresh, second.refresh, third.refresh]).size).toBe(3)
  })

  test('a scope that is asked for is the most that is granted; a refresh may ask for less', async () => {
    const read = await letIn(service, operator, {}, { scope: 'memory:read' })
    const refused = await callTool(service, read.access, 'write_memory', { key: 'q', text: 'b' })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('www-authenticate')).toContain(
      'error="insufficient_scope", scope="memory:read memory:write"',
    )
    const all = await letIn(service, operator)
    const less = await refresh(service, all.clientId, all.refresh, { scope: 'memory:read' })
    expect(less.body).toMatchObject({ scope: 'memory:read' })
    const { access } = tokensIn(less)
    expect((await callTool(service, access, 'write_memory', { key: 'q', text: 'b' })).status).toBe(
      403,
    )
  })

  test('who refuses leads back too, and nothing is granted', async () => {
    const own = await operatorOf(service)
    const clientId = await register(service)
    const back = backAt(await decide(service, own, request(clientId), { decision: 'refuse' }))
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'access_denied',
      state: 'a state',
      iss: ISSUER,
    })
    expect(await keys(own)).toEqual([])
  })

  test.each(['access', 'refresh'] as const)(
    'a client ends what it was granted by its %s token',
    async (which) => {
      const own = await operatorOf(service)
      const first = await letIn(service, own)
      const spare = tokensIn(await refresh(service, first.clientId, first.refresh))
      const stranger = await register(service)
      const revoke = (client_id: string) =>
        post(service, '/oauth/revoke', { client_id, token: spare[which] })
      expect((await revoke(stranger)).status).toBe(200)
      expect(await keys(own)).toHaveLength(1)
      expect((await revoke(first.clientId)).status).toBe(200)
      expect(await keys(own)).toEqual([])
      expect((await eventsOf(own)).at(-1)).toBe('revoke_key')
      expect(await eventsOf(own)).not.toContain('suspect_theft')
      for (const { access } of [first, spare]) {
        expect((await callTool(service, access, 'get_context')).status).toBe(401)
      }
      expect((await refresh(service, first.clientId, spare.refresh)).status).toBe(400)
    },
  )

  test('of many who redeem a code at once one gets tokens; all who refresh at once do', async () => {
    for (let round = 0; round < 5; round++) {
      const clientId = await register(service)
      const code = await codeFor(service, operator, request(clientId))
      const redeemed = await Promise.all([1, 2, 3].map(() => redeem(service, clientId, code)))
      const [won, ...others] = redeemed.filter(({ status }) => status === 200).map(tokensIn)
      expect(others).toEqual([])
      const refreshed = [1, 2, 3, 4].map(() => refresh(service, clientId, won?.refresh ?? ''))
      const tokens = (await Promise.all(refreshed)).map(tokensIn)
      expect(new Set(tokens.map((each) => each.refresh)).size).toBe(4)
      for (const { access } of tokens) {
        expect((await callTool(service, access, 'get_context')).status).toBe(200)
      }
    }
  })

  test('the operator is told of a reuse at the key and in its activity', async () => {
    const own = await operatorOf(service)
    const { clientId, refresh: shared } = await letIn(service, own)
    for (let n = 0; n < 3; n++) await refresh(service, clientId, shared)
    const shown = async (tab: string) =>
      (await own.open(`/console/agents/${own.agentId}/${tab}`)).text
    expect(await shown('keys')).toContain('several sessions used the same token: 2 times')
    expect(await shown('activity')).toContain('Used a replaced refresh token of the key')
  })
})
