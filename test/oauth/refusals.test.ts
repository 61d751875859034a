/** What OAuth refuses, each by the way that an attacker or a faulty client would take. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordHash } from '../../src/oauth/oauth.ts'
import { inRecords } from '../../src/oauth/records.ts'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { type Answer, ask, embedded, openService, type TestService } from '../harness.ts'
import {
  authorize,
  backAt,
  callTool,
  codeFor,
  decide,
  letIn,
  linkIn,
  type Operator,
  operatorOf,
  REDIRECT,
  redeem,
  refresh,
  register,
  request,
  tokensIn,
} from './client.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** So long after its use a code was not just sent twice. */
const TAKEN_MS = 11_000

let service: TestService
let operator: Operator
let clientId: string
beforeAll(async () => {
  service = await openService(embedded, {
    CONTROLS_PER_MINUTE: '0',
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '0',
    OAUTH_PER_MINUTE: '0',
  })
  operator = await operatorOf(service)
  clientId = await register(service)
})
afterAll(() => service.close())

const statusOf = async (token: string): Promise<number> =>
  (await callTool(service, token, 'get_context')).status

const errorOf = ({ status, body }: Answer) => [status, body.error]

describe('a request', () => {
  /** A visitor is not sent to what anybody may have registered. */
  const asksBefore = ({ status, headers, text }: Answer) => {
    expect([status, headers.get('location'), headers.get('refresh')]).toEqual([400, null, null])
    expect(text).toContain('<strong>client.example</strong> sent you here')
    expect(text).toContain('Go on to client.example</a>')
  }

  const leadsNowhere = async (parameters: Record<string, string>) => {
    const { status, headers, text } = await authorize(service, request(clientId, parameters))
    expect([status, headers.get('location')]).toEqual([400, null])
    expect(text).toContain('This program cannot be let in')
  }

  test.each([
    'https://client.example/elsewhere',
    'https://client.example/back/',
    'https://client.example.evil.example/back',
    'http://client.example/back',
    'https://client.example/back?x=1',
    'https://client.example:444/back',
  ])('does not lead to %s, which was not registered', (redirect_uri) =>
    leadsNowhere({ redirect_uri }),
  )

  test.each([
    [
      'a document whose address is written otherwise',
      { client_id: 'HTTPS://client.example/c.json' },
    ],
    ['more than an address holds', { state: 'x'.repeat(16_384) }],
  ])('with %s leads nowhere', (_, parameters) => leadsNowhere(parameters))

  test('of an unknown client leads nowhere', () => leadsNowhere({ client_id: 'unknown' }))

  test.each([
    ['without PKCE', { code_challenge: '', code_challenge_method: '' }, 'invalid_request'],
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a challenge of no method', { code_challenge_method: '' }, 'invalid_request'],
    ['for another resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['for the whole service', { resource: 'http://127.0.0.1:8787' }, 'invalid_target'],
    ['without asking anybody', { prompt: 'none' }, 'consent_required'],
  ])('%s is refused, and a page asks before its client is told', async (_, parameters, error) => {
    const sent = Object.entries(parameters).filter(([, value]) => value !== '')
    const left = Object.keys(parameters).filter((name) => !(Object.fromEntries(sent)[name] ?? ''))
    const search = new URLSearchParams(request(clientId, Object.fromEntries(sent)))
    for (const name of left) search.delete(name)
    const answer = await authorize(service, String(search))
    asksBefore(answer)
    const link = linkIn(answer)
    expect(`${link.origin}${link.pathname}`).toBe(REDIRECT)
    expect(Object.fromEntries(link.searchParams)).toMatchObject({
      error,
      state: 'a state',
      iss: 'http://127.0.0.1:8787',
    })
  })

  test('for a token in the address is refused', async () => {
    const answer = await authorize(service, request(clientId, { response_type: 'token' }))
    asksBefore(answer)
    expect(linkIn(answer).hash).toContain('error=unsupported_response_type')
  })

  test('with a fault leads nowhere by itself on the page of the signed-in operator either', async () => {
    const search = request(clientId, { prompt: 'none' })
    asksBefore(await operator.open(`/console/consent?${search}`))
    for (const decision of ['allow', 'refuse']) {
      const sent = { request: search, turn: '0', decision }
      asksBefore(await operator.send('/console/consent', sent))
    }
  })

  test('with a fault of a client that writes markup shows it as text', async () => {
    const state = '"><script>alert(1)</script>'
    const answer = await authorize(service, request(clientId, { prompt: 'none', state }))
    expect(answer.text).not.toContain('<script>alert')
    expect(linkIn(answer).searchParams.get('state')).toBe(state)
  })

  test('that names a parameter twice is refused', async () => {
    asksBefore(await authorize(service, `${request(clientId)}&code_challenge=x`))
    const twice = `${request(clientId)}&client_id=${clientId}`
    expect((await authorize(service, twice)).status).toBe(400)
  })

  test('is not offered under a name that is not the service’s own', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-protected-resource',
      `/oauth/authorize?${request(clientId)}`,
    ]) {
      const own = await ask(service.app, 'GET', path)
      expect(own.status).toBeLessThan(400)
      const { status, body } = await under('evil.example', path)
      expect([status, body.code]).toEqual([404, 'oauth_unavailable'])
    }
  })

  const under = (host: string, path: string) =>
    ask(
      {
        ...service.app,
        serve: (incoming) => service.app.serve({ ...incoming, host }),
      },
      'GET',
      path,
    )
})

describe('a decision', () => {
  test('by nobody leads to the sign-in, and back to the page', async () => {
    const search = request(clientId)
    const sent = await authorize(service, search)
    const page = await service.call('GET', sent.headers.get('location') ?? '', {
      headers: { accept: 'text/html' },
    })
    const next = new URL(page.headers.get('location') ?? '', 'http://x').searchParams.get('next')
    expect(next).toBe(`/console/consent?${search}`)
  })

  test('that another site’s page sends is refused', async () => {
    const { turn, ...fields } = { turn: '0', request: request(clientId), decision: 'allow' }
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'https://client.example' },
    ]) {
      const answer = await operator.send('/console/consent', { ...fields, turn }, headers)
      expect(answer.status).toBe(403)
    }
  })

  test('is taken once', async () => {
    const own = await operatorOf(service)
    const first = await decide(service, own, request(clientId))
    expect(backAt(first).searchParams.has('code')).toBe(true)
    const again = await own.send('/console/consent', {
      request: request(clientId),
      turn: '0',
      home: own.agentId,
      access: 'write',
      days: '0',
      decision: 'allow',
    })
    expect(again.status).toBe(409)
  })

  test('that is sent again bears no second home', async () => {
    const own = await operatorOf(service)
    const search = request(clientId)
    const page = await own.open(`/console/consent?${search}`)
    const [, turn = ''] = /name="turn" value="([^"]*)"/.exec(page.text) ?? []
    const sent = { request: search, turn, home: 'new', name: 'Twice', access: 'write', days: '0' }
    const allow = () => own.send('/console/consent', { ...sent, decision: 'allow' })
    expect([(await allow()).status, (await allow()).status]).toEqual([303, 409])
    expect((await own.open('/console')).text.split('>Twice</a>')).toHaveLength(2)
  })

  test('about an agent of somebody else’s is refused', async () => {
    const other = await operatorOf(service)
    const answer = await decide(service, operator, request(clientId), { home: other.agentId })
    expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
  })

  test.each([
    ['access', 'all'],
    ['days', '9999'],
    ['prefix', 'no prefix'],
    ['home', ''],
  ])('with a %s that no form offers is refused', async (field, value) => {
    const answer = await decide(service, operator, request(clientId), { [field]: value })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.headers.get('location')).toBeNull()
  })

  test('grants no more than was asked for', async () => {
    const own = await operatorOf(service)
    await letIn(service, own, { access: 'write' }, { scope: 'memory:read' })
    const token = own.operatorToken
    const { body } = await service.call('GET', '/api/agents/me/keys', { token })
    expect(body).toMatchObject({ keys: [{ access: 'read' }] })
  })
})

describe('a code', () => {
  const fresh = () => codeFor(service, operator, request(clientId))

  test.each([
    ['another verifier', { code_verifier: 'another-verifier-of-at-least-forty-three-characters' }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect', { redirect_uri: 'https://client.example/elsewhere' }],
    ['another code', { code: 'x'.repeat(43) }],
  ])('is not redeemed with %s', async (_, fields) => {
    expect(errorOf(await redeem(service, clientId, await fresh(), fields))[0]).toBe(400)
  })

  test('is not redeemed for another resource', async () => {
    const answer = await redeem(service, clientId, await fresh(), {
      resource: 'https://elsewhere.example/mcp',
    })
    expect(errorOf(answer)).toEqual([400, 'invalid_target'])
  })

  test('is redeemed, and refreshed, where the resource is left empty', async () => {
    const tokens = tokensIn(await redeem(service, clientId, await fresh(), { resource: '' }))
    expect((await refresh(service, clientId, tokens.refresh, { resource: '' })).status).toBe(200)
  })

  test('for another resource is not used up', async () => {
    const code = await fresh()
    const resource = 'http://127.0.0.1:8787/mcp/'
    expect(errorOf(await redeem(service, clientId, code, { resource }))[1]).toBe('invalid_target')
    const tokens = tokensIn(await redeem(service, clientId, code))
    const refused = await refresh(service, clientId, tokens.refresh, { resource })
    expect(errorOf(refused)[1]).toBe('invalid_target')
    expect((await refresh(service, clientId, tokens.refresh)).status).toBe(200)
  })

  test('is not redeemed by another client', async () => {
    const other = await register(service)
    expect(errorOf(await redeem(service, other, await fresh()))).toEqual([400, 'invalid_grant'])
  })

  test('lives a minute', async () => {
    const code = await fresh()
    service.tick(MINUTE_MS + 1_000)
    expect(errorOf(await redeem(service, clientId, code))).toEqual([400, 'invalid_grant'])
  })

  test('that is used twice ends what it was given', async () => {
    const code = await fresh()
    const tokens = tokensIn(await redeem(service, clientId, code))
    expect(errorOf(await redeem(service, clientId, code))).toEqual([400, 'invalid_grant'])
    // It may have been sent twice.
    expect(await statusOf(tokens.access)).toBe(200)
    service.tick(TAKEN_MS)
    expect(errorOf(await redeem(service, clientId, code))).toEqual([400, 'invalid_grant'])
    expect(await statusOf(tokens.access)).toBe(401)
    expect(errorOf(await refresh(service, clientId, tokens.refresh))[0]).toBe(400)
  })

  test('is taken for stolen from just ten seconds after its use', async () => {
    let now = service.now()
    const codes = inRecords('AuthorizationCode', { records: service.store, clock: () => now })
    await codes.upsert('code', {}, 60)
    await codes.consume('code')
    const consumedAt = Math.floor(now / 1000)
    now += 9_999
    expect(await codes.find('code')).toEqual({ jti: 'code' })
    now += 1
    expect(await codes.find('code')).toEqual({ jti: 'code', consumed: consumedAt })
  })

  test('that nobody redeems leaves a key that ends by itself', async () => {
    const own = await operatorOf(service)
    await codeFor(service, own, request(clientId))
    const token = own.operatorToken
    const { body } = await service.call('GET', '/api/agents/me/keys', { token })
    const [{ expiresAt }] = body.keys as [{ expiresAt: string }]
    expect(Date.parse(expiresAt) - service.now()).toBeLessThanOrEqual(10 * MINUTE_MS)
  })
})

describe('a token', () => {
  test('that is refreshed again a day later ends the grant', async () => {
    const own = await operatorOf(service)
    const first = await letIn(service, own)
    const second = tokensIn(await refresh(service, first.clientId, first.refresh))
    const again = () => refresh(service, first.clientId, first.refresh)
    service.tick(DAY_MS - 1_000)
    const third = tokensIn(await again())
    service.tick(1_000)
    expect(errorOf(await again())).toEqual([400, 'invalid_grant'])
    for (const { access, refresh: token } of [second, third]) {
      expect(await statusOf(access)).toBe(401)
      expect(errorOf(await refresh(service, first.clientId, token))[0]).toBe(400)
    }
    operator = await operatorOf(service)
  })

  test('that is made up ends nothing, not even one that names a chain', async () => {
    const granted = await letIn(service, operator)
    const [, secret] = granted.refresh.split('.')
    for (const guess of [`x.${secret}`, `.${secret}`, secret ?? '', `${granted.clientId}.x`]) {
      expect(errorOf(await refresh(service, granted.clientId, guess))[0]).toBe(400)
    }
    expect(await statusOf(granted.access)).toBe(200)
  })

  test('of version 2.0.0 is refreshed, and ends its grant if it is used again a day later', async () => {
    const granted = await letIn(service, operator)
    const { agentId = '', key } = (await service.store.identify(hashToken(granted.access))) ?? {}
    const [grant, old] = [{ agentId, keyId: key?.id ?? '' }, 'a-token-without-a-chain']
    const found = await service.store.findRecord(
      recordHash('RefreshToken', granted.refresh),
      service.now(),
    )
    const record = { kind: 'RefreshToken', grant, payload: found?.payload ?? '' }
    const ends = { idHash: recordHash('RefreshToken', old), expiresAt: service.now() + 9 * DAY_MS }
    await service.store.keepRecord({ ...record, ...ends }, service.now())
    const next = tokensIn(await refresh(service, granted.clientId, old))
    const { refresh: newest } = tokensIn(await refresh(service, granted.clientId, old))
    expect((await refresh(service, granted.clientId, next.refresh)).status).toBe(200)
    service.tick(DAY_MS)
    expect(errorOf(await refresh(service, granted.clientId, old))).toEqual([400, 'invalid_grant'])
    expect(errorOf(await refresh(service, granted.clientId, newest))[0]).toBe(400)
    operator = await operatorOf(service)
  })

  test('is not refreshed by another client, nor for more than it was granted', async () => {
    const granted = await letIn(service, operator, {}, { scope: 'memory:read' })
    const other = await register(service)
    expect(errorOf(await refresh(service, other, granted.refresh))[0]).toBe(400)
    const more = { scope: 'memory:read memory:write' }
    const answer = await refresh(service, granted.clientId, granted.refresh, more)
    expect(errorOf(answer)).toEqual([400, 'invalid_scope'])
  })

  test('ends after an hour, and its refresh token after 90 days without use', async () => {
    const own = await operatorOf(service)
    const granted = await letIn(service, own)
    service.tick(61 * MINUTE_MS)
    const refused = await callTool(service, granted.access, 'get_context')
    expect(refused.status).toBe(401)
    expect(refused.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const next = tokensIn(await refresh(service, granted.clientId, granted.refresh))
    service.tick(89 * DAY_MS)
    const last = tokensIn(await refresh(service, granted.clientId, next.refresh))
    service.tick(91 * DAY_MS)
    expect((await refresh(service, granted.clientId, last.refresh)).status).toBeGreaterThan(399)
    operator = await operatorOf(service)
    clientId = await register(service)
  })

  test('ends when its grant does, whatever is left of its hour', async () => {
    const own = await operatorOf(service)
    const granted = await letIn(service, own, { days: '1' })
    service.tick(DAY_MS - 10 * MINUTE_MS)
    const answer = await refresh(service, granted.clientId, granted.refresh)
    expect(Number(answer.body.expires_in)).toBeLessThanOrEqual(600)
    service.tick(11 * MINUTE_MS)
    expect(await statusOf(tokensIn(answer).access)).toBe(401)
    const again = await refresh(service, granted.clientId, tokensIn(answer).refresh)
    expect(errorOf(again)[0]).toBe(400)
    operator = await operatorOf(service)
  })

  test('is good at /mcp alone', async () => {
    const { access: token } = await letIn(service, operator)
    for (const path of ['/api/agents/me', '/api/agents/me/memories', '/api/agents/me/export']) {
      const { status, text } = await service.call('GET', path, { token })
      expect([status, text]).toEqual([401, expect.stringContaining('for /mcp alone')])
    }
    const sent = { token, body: { key: 'k', text: 'x', expectedVersion: 0 } }
    expect((await service.call('POST', '/api/agents/me/memory', sent)).status).toBe(401)
  })

  test('of a paused agent is refused, and good again afterwards', async () => {
    const own = await operatorOf(service)
    const granted = await letIn(service, own)
    const set = (status: string) =>
      service.call('PATCH', '/api/agents/me', { token: own.operatorToken, body: { status } })
    await set('paused')
    const paused = await callTool(service, granted.access, 'read_memory', { key: 'k' })
    expect(JSON.stringify(paused.body)).toContain('agent_paused')
    const next = tokensIn(await refresh(service, granted.clientId, granted.refresh))
    const still = await callTool(service, next.access, 'read_memory', { key: 'k' })
    expect(JSON.stringify(still.body)).toContain('agent_paused')
    await set('active')
    expect(await statusOf(next.access)).toBe(200)
  })

  test.each([
    ['a rotation', (own: Operator) => ['POST', '/api/agents/me/keys', own] as const],
    ['an erasure', (own: Operator) => ['POST', '/api/agents/me/erase', own] as const],
  ])('ends with %s', async (_, how) => {
    const own = await operatorOf(service)
    const granted = await letIn(service, own)
    const [method, path] = how(own)
    const body = path.endsWith('erase') ? { agent_id: own.agentId } : undefined
    await service.call(method, path, { token: own.operatorToken, ...(body && { body }) })
    expect(await statusOf(granted.access)).toBe(401)
    expect(errorOf(await refresh(service, granted.clientId, granted.refresh))[0]).toBe(400)
  })

  test('reaches no memory outside of its prefix', async () => {
    const { access } = await letIn(service, operator, { prefix: 'mine.' })
    const sent = { key: 'other', text: 'x', expectedVersion: 0 }
    const answer = await callTool(service, access, 'write_memory', sent)
    expect(JSON.stringify(answer.body)).toContain('key_out_of_reach')
  })
})

describe('a page of any origin', () => {
  test('reads the metadata, which may be kept for five minutes', async () => {
    for (const document of [
      'authorization-server',
      'protected-resource',
      'protected-resource/mcp',
    ]) {
      const { headers } = await service.call('GET', `/.well-known/oauth-${document}`)
      expect([document, headers.get('cache-control')]).toEqual([document, 'public, max-age=300'])
      expect(headers.get('access-control-allow-origin')).toBe('*')
    }
  })

  test('may send what the protocol has a client send', async () => {
    const { headers } = await service.call('OPTIONS', '/oauth/token', {
      headers: { origin: 'https://page.example', 'access-control-request-method': 'POST' },
    })
    expect(headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, MCP-Protocol-Version',
    )
    expect(headers.get('access-control-allow-methods')).toContain('POST')
  })
})

describe('the challenge of /mcp', () => {
  test('tells where a token is got, and for what', async () => {
    const { status, headers } = await callTool(service, undefined, 'get_context')
    expect(status).toBe(401)
    const challenge = headers.get('www-authenticate') ?? ''
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? []
    expect(challenge).toContain('scope="memory:read memory:write"')
    const resource = await service.call('GET', new URL(url).pathname)
    expect(resource.body).toMatchObject({
      resource: 'http://127.0.0.1:8787/mcp',
      authorization_servers: ['http://127.0.0.1:8787'],
    })
  })

  test('says nothing of it where OAuth is not offered', async () => {
    const plain = await openService(embedded, { PUBLIC_URL: 'http://home.example' })
    const { headers } = await callTool(plain, undefined, 'get_context')
    expect(headers.get('www-authenticate')).toBe('Bearer realm="agent-home"')
    await plain.close()
  })
})

describe('a registration', () => {
  const refused = async (metadata: object) => {
    const body = { client_name: 'X', redirect_uris: [REDIRECT], ...metadata }
    const answer = await service.call('POST', '/oauth/register', { body })
    return errorOf(answer)
  }

  test.each([
    'http://client.example/back',
    'https://localhost/back',
    'https://client.example/back#x',
    'https://user@client.example/back',
    'javascript:alert(1)',
    'cursor://back',
    'https://client.example/\u202eback',
    'https://client.example:443/back',
    'https://client.example\\@other.example/back',
    'https://a;sandbox/back',
    'https://a,b/back',
    'https://*/back',
    "https://a$'b/back",
    'https://a.localhost/back',
    'https://localhost./back',
    'https://client.example:0/back',
    'http://2130706433/back',
    'http://127.1/back',
    'back',
  ])('of the redirect %s is refused', async (uri) => {
    expect(await refused({ redirect_uris: [uri] })).toEqual([400, 'invalid_redirect_uri'])
  })

  test('keeps the redirects that can be used, and answers them alone', async () => {
    const loopback = 'http://127.0.0.1/back'
    const redirect_uris = ['cursor://back', REDIRECT, `https://a.example/${'x'.repeat(1_000)}`]
    const body = { redirect_uris: [...redirect_uris, loopback, 'http://a.example/'] }
    const answer = await service.call('POST', '/oauth/register', { body })
    expect([answer.status, answer.body.redirect_uris]).toEqual([201, [REDIRECT, loopback]])
    const id = String(answer.body.client_id)
    const at = async (redirect_uri: string) =>
      (await authorize(service, request(id, { redirect_uri }))).status
    expect(await at(REDIRECT)).toBe(303)
    expect(await at('http://127.0.0.1:49152/back')).toBe(303)
    expect(await at('cursor://back')).toBe(400)
  })

  test.each([
    { redirect_uris: [] },
    { redirect_uris: [REDIRECT, 1] },
    { redirect_uris: Array.from({ length: 21 }, () => REDIRECT) },
    { redirect_uris: 'https://client.example' },
  ])('of %j is refused', async (metadata) => {
    expect(await refused(metadata)).toEqual([400, 'invalid_redirect_uri'])
  })

  test.each([
    { grant_types: ['client_credentials'] },
    { response_types: ['token'] },
    { client_name: 'x'.repeat(201) },
  ])('with %j is refused', async (metadata) => {
    expect(await refused(metadata)).toEqual([400, 'invalid_client_metadata'])
  })

  test('keeps no secret, no foreign member and no character that is not seen', async () => {
    const body = {
      client_name: '\u3164Cl\u202eaude\u2028\u0007\u2800Co\u0301\u0301\u0301de',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'client_secret_basic',
      jwks_uri: 'https://client.example/keys',
      logo_uri: 'https://client.example/logo',
    }
    const answer = await service.call('POST', '/oauth/register', { body })
    expect(answer.body).toEqual({
      client_id: expect.any(String),
      client_id_issued_at: expect.any(Number),
      client_name: 'Claude Co\u0301\u0301de',
      redirect_uris: [REDIRECT],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    })
  })

  test('that nobody lets in is forgotten after a day, and one that is let in is not', async () => {
    const own = await operatorOf(service)
    const unused = await register(service)
    const used = await letIn(service, own)
    service.tick(DAY_MS + 1_000)
    const at = (id: string) => service.store.findRecord(recordHash('Client', id), service.now())
    expect(await at(unused)).toBeUndefined()
    expect(await at(used.clientId)).toBeDefined()
    expect((await authorize(service, request(unused))).status).toBe(400)
    expect((await refresh(service, used.clientId, used.refresh)).status).toBe(200)
    operator = await operatorOf(service)
    clientId = await register(service)
  })

  test('may have twenty redirects, of a thousand characters each', async () => {
    const longest = (n: number) => `https://a.example/${n}/`.padEnd(1_000, 'x')
    const redirect_uris = Array.from({ length: 20 }, (_, n) => longest(n))
    const answer = await service.call('POST', '/oauth/register', { body: { redirect_uris } })
    // More than one body may hold.
    expect(answer.status).toBe(413)
    const body = { redirect_uris: [...redirect_uris.slice(0, 12), ...Array(8).fill(REDIRECT)] }
    const kept = await service.call('POST', '/oauth/register', { body })
    expect([kept.status, kept.body.redirect_uris]).toEqual([201, body.redirect_uris])
  })

  test('leads to any port of loopback, and to nothing else of it', async () => {
    const id = await register(service, { redirect_uris: ['http://127.0.0.1/back'] })
    const at = (redirect_uri: string) => authorize(service, request(id, { redirect_uri }))
    expect((await at('http://127.0.0.1:49152/back')).status).toBe(303)
    for (const other of ['http://127.0.0.1:49152/other', 'http://localhost:49152/back']) {
      expect((await at(other)).status).toBe(400)
    }
  })
})

test('nothing that is secret is kept in the clear', async () => {
  const own = await operatorOf(service)
  const granted = await letIn(service, own)
  const code = await codeFor(service, own, request(granted.clientId))
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(service.store.location, { readOnly: true })
  const rows = db.prepare('SELECT * FROM oauth_records').all()
  const keys = db.prepare('SELECT * FROM credentials').all()
  db.close()
  const kept = JSON.stringify([rows, keys])
  expect(rows.length).toBeGreaterThan(2)
  for (const secret of [code, granted.code, granted.access, granted.refresh, own.cookie]) {
    expect(kept).not.toContain(secret)
  }
  expect(kept).toContain(createHash('sha256').update(granted.access).digest('hex'))
})

describe('the page on which an operator decides', () => {
  const pageFor = async (redirect_uri: string, client_name = 'Claude') => {
    const id = await register(service, { redirect_uris: [redirect_uri], client_name })
    return operator.open(`/console/consent?${request(id, { redirect_uri })}`)
  }

  test('calls only loopback the device that is used', async () => {
    const HERE = 'the device that you are using'
    expect((await pageFor('http://127.0.0.1/back')).text).toContain(HERE)
    expect((await pageFor('https://127.evil.example/back')).text).not.toContain(HERE)
  })

  test('may lead to where its client is, and nowhere else', async () => {
    const forms = async (redirect: string) =>
      /form-action ([^;]*);/.exec(
        (await pageFor(redirect)).headers.get('content-security-policy') ?? '',
      )?.[1]
    expect(await forms(REDIRECT)).toBe("'self' https://client.example")
    // A policy has no way to name an IPv6 address.
    expect(await forms('http://[::1]/back')).toBe("'self' http:")
  })

  test('offers a name for a new home that one may have', async () => {
    const { text } = await pageFor(REDIRECT, 'x'.repeat(200))
    expect(/name="name"[^>]*value="(x+)"/.exec(text)?.[1]).toHaveLength(80)
  })
})

test('strangers who ask for access leave no row behind', async () => {
  const { DatabaseSync } = await import('node:sqlite')
  const db = new DatabaseSync(service.store.location, { readOnly: true })
  const count = () => db.prepare('SELECT count(*) AS n FROM oauth_records').get()?.n
  const before = count()
  for (let n = 0; n < 20; n++) await authorize(service, request(clientId, { state: `${n}` }))
  await operator.open(`/console/consent?${request(clientId)}`)
  expect(count()).toBe(before)
  db.close()
})

test('an address has its share of requests and registrations, and all have theirs', async () => {
  const sparing = await openService(embedded, {
    OAUTH_PER_MINUTE: '2',
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '2',
    REGISTRATIONS_PER_HOUR: '3',
  })
  const from = (address: string) =>
    sparing.call('POST', '/oauth/register', { body: { redirect_uris: [REDIRECT] }, from: address })
  const statuses = async (address: string) => {
    const answers = [await from(address), await from(address), await from(address)]
    return answers.map(({ status }) => status)
  }
  expect(await statuses('192.0.2.1')).toEqual([201, 201, 429])
  expect(await statuses('192.0.2.2')).toEqual([201, 429, 429])
  const id = String(await register(sparing).catch(() => 'none'))
  const asked = [1, 2, 3].map(() => authorize(sparing, request(id)))
  expect((await Promise.all(asked)).at(-1)?.status).toBe(429)
  await sparing.close()
})

test('an IPv6 network has its share of registrations', async () => {
  const sparing = await openService(embedded, {
    REGISTRATIONS_PER_HOUR_PER_ADDRESS: '1',
    REGISTRATIONS_PER_HOUR: '6',
  })
  const from = (address: string) =>
    sparing.call('POST', '/oauth/register', { body: { redirect_uris: [REDIRECT] }, from: address })
  for (let site = 0; site < 5; site++)
    expect((await from(`2001:db8:7:${site}::1`)).status).toBe(201)
  expect((await from('2001:db8:7:6::1')).status).toBe(429)
  // What the network is refused is not taken from all.
  expect((await from('2001:db8:8:1::1')).status).toBe(201)
  expect((await from('2001:db8:9:1::1')).status).toBe(429)
  await sparing.close()
})

test('no client is registered on a disk that is kept for writes', async () => {
  const full = await openService(embedded, { DISK_RESERVE: '999999999999999' })
  const body = { redirect_uris: [REDIRECT] }
  const answer = await full.call('POST', '/oauth/register', { body })
  expect([answer.status, answer.body.code]).toEqual([503, 'storage_full'])
  await full.close()
})

test('the answer names its issuer, so that clients of several do not mix them up', async () => {
  const elsewhere = await openService(embedded, { PUBLIC_URL: 'https://home.example' })
  const { body } = await elsewhere.call('GET', '/.well-known/oauth-authorization-server')
  expect(body).toMatchObject({
    issuer: 'https://home.example',
    authorization_response_iss_parameter_supported: true,
  })
  const id = await register(elsewhere)
  const answer = await authorize(
    elsewhere,
    request(id, { prompt: 'none', resource: 'https://home.example/mcp' }),
  )
  expect(linkIn(answer).searchParams.get('iss')).toBe('https://home.example')
  expect(linkIn(answer).searchParams.get('error')).toBe('consent_required')
  await elsewhere.close()
})
