/** A token that was rotated, or an agent that was paused, after the request was let in. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded)
})
afterAll(() => service.close())

const requests = [
  ['a read', 'GET', `${memoryPath}?key=plan`, undefined],
  ['a read of a version', 'GET', `${memoryPath}?key=plan&version=1`, undefined],
  ['a list', 'GET', '/api/agents/me/memories', undefined],
  ['a list of versions', 'GET', `${memoryPath}/versions?key=plan`, undefined],
  ['a look at the log', 'GET', '/api/agents/me/events', undefined],
  ['a write', 'POST', memoryPath, { key: 'plan', text: 'lost', expectedVersion: 1 }],
  ['a patch', 'PATCH', memoryPath, { key: 'plan', text: 'lost', expectedVersion: 1 }],
  ['an append', 'POST', `${memoryPath}/append`, { key: 'plan', text: 'lost' }],
  ['a restore', 'POST', `${memoryPath}/restore`, { key: 'plan', version: 1, expectedVersion: 1 }],
  ['a delete', 'DELETE', `${memoryPath}?key=plan&expectedVersion=1`, undefined],
  ['an export', 'GET', '/api/agents/me/export', undefined],
] as const

const overtakings = [
  ['a rotation', 'POST', '/api/agents/me/keys', undefined, 'invalid_token'],
  ['a pause', 'PATCH', '/api/agents/me', { status: 'paused' }, 'agent_paused'],
] as const

const races = requests.flatMap((request) =>
  overtakings.map((overtaking) => [request[0], overtaking[0], request, overtaking] as const),
)

test.each(races)('%s that %s overtakes is refused as if it had come later', async (...race) => {
  const [, , [, method, path, body], [, change, changed, sent, code]] = race
  const { token, operatorToken } = await service.birth()
  await service.call('POST', memoryPath, {
    token,
    body: { key: 'plan', text: 'kept', expectedVersion: 0 },
  })
  const { identify } = service.store
  // The moment between who it is and what it may do.
  service.store.identify = async (tokenHash) => {
    service.store.identify = identify
    const identity = await identify(tokenHash)
    await service.call(change, changed, { token: operatorToken, body: sent })
    return identity
  }
  expectProblem(await service.call(method, path, { token, body }), code)
  const kept = await service.call('GET', `${memoryPath}?key=plan`, { token: operatorToken })
  expect(kept.body.memory).toMatchObject({ text: 'kept', version: 1 })
})
