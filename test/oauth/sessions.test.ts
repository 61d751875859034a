/** Sessions that share what was granted, for days: each lives on, and a stolen token is noticed. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RECORDS_PER_GRANT } from '../../src/store/port/oauth.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { callTool, letIn, type Operator, operatorOf, refresh, tokensIn } from './client.ts'

const HOUR_MS = 3_600_000

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, { OAUTH_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' })
})
afterAll(() => service.close())

const keys = async ({ operatorToken: token }: Operator) =>
  (await service.call('GET', '/api/agents/me/keys', { token })).body.keys as object[]

const eventsOf = async ({ operatorToken: token }: Operator) => {
  const { body } = await service.call('GET', '/api/agents/me/events', { token })
  return (body.events as { type: string }[]).map(({ type }) => type)
}

const statusOf = async (access: string) => (await callTool(service, access, 'get_context')).status

const untilFullHour = () => service.tick(HOUR_MS - (service.now() % HOUR_MS))

async function rotate(clientId: string, token: string, times: number) {
  let newest = token
  for (let n = 0; n < times; n++) {
    newest = tokensIn(await refresh(service, clientId, newest)).refresh
  }
  return newest
}

test('sessions that share a refresh token live on, each with tokens of its own', async () => {
  const own = await operatorOf(service)
  const { clientId, refresh: shared } = await letIn(service, own)
  const sessions = [shared, shared, shared]
  untilFullHour()
  // Longer than a day, and than a grant keeps tokens.
  for (let hour = 0; 3 * hour < RECORDS_PER_GRANT + 9; hour++) {
    service.tick(HOUR_MS)
    for (const [at, token] of sessions.entries()) {
      service.tick(12_000)
      const tokens = tokensIn(await refresh(service, clientId, token))
      expect(await statusOf(tokens.access)).toBe(200)
      sessions[at] = tokens.refresh
    }
  }
  const reused = { times: 2, lastAt: expect.any(String) }
  expect(await keys(own)).toMatchObject([{ name: 'Claude', reused }])
  expect(await eventsOf(own)).toEqual(['create_key', 'reuse_token'])
})

test('an idle session lives on while another refreshes, and so does a lost answer’s', async () => {
  const { clientId, refresh: shared } = await letIn(service, await operatorOf(service))
  let ahead = shared
  for (let hour = 0; hour < 20; hour++) {
    service.tick(HOUR_MS)
    ahead = await rotate(clientId, ahead, 1)
  }
  const behind = tokensIn(await refresh(service, clientId, shared)).refresh
  const lost = await rotate(clientId, behind, 5)
  await refresh(service, clientId, lost)
  await rotate(clientId, lost, 25)
  await rotate(clientId, ahead, 25)
})

test.each([21, 100])('a token that is used %i replacements later ends the grant', async (n) => {
  const own = await operatorOf(service)
  const stolen = await letIn(service, own)
  const newest = await rotate(stolen.clientId, stolen.refresh, n)
  const { access } = tokensIn(await refresh(service, stolen.clientId, newest))
  expect((await refresh(service, stolen.clientId, stolen.refresh)).status).toBe(400)
  expect(await statusOf(access)).toBe(401)
  expect(await keys(own)).toEqual([])
  expect(await eventsOf(own)).toEqual(['create_key', 'suspect_theft', 'revoke_key'])
})

test('an idle session whose token many others displaced is refused and told, and they live on', async () => {
  const own = await operatorOf(service)
  const { clientId, refresh: shared } = await letIn(service, own)
  untilFullHour()
  const sessions = Array.from({ length: 7 }, () => shared)
  for (let hour = 0; hour < 16; hour++) {
    service.tick(HOUR_MS)
    for (const [at, token] of sessions.entries()) {
      service.tick(1)
      sessions[at] = await rotate(clientId, token, 1)
    }
  }
  expect((await refresh(service, clientId, shared)).status).toBe(400)
  for (const token of sessions) {
    expect((await refresh(service, clientId, token)).status).toBe(200)
  }
  expect(await keys(own)).toMatchObject([{ reused: { times: 7 } }])
  expect(await eventsOf(own)).toEqual(['create_key', 'reuse_token', 'reuse_token'])
})

test('a session that others displaced is refused, and they live on', async () => {
  const own = await operatorOf(service)
  const { clientId, refresh: shared } = await letIn(service, own)
  untilFullHour()
  const displaced = await rotate(clientId, shared, 1)
  let newest = displaced
  for (let n = 0; n < RECORDS_PER_GRANT; n++) {
    service.tick(1)
    newest = await rotate(clientId, shared, 1)
  }
  expect((await refresh(service, clientId, displaced)).status).toBe(400)
  expect((await refresh(service, clientId, newest)).status).toBe(200)
  expect(await eventsOf(own)).toEqual(['create_key', 'reuse_token'])
})
