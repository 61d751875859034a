/** The interface lists the codes of its operations; none of them answers another. */
import { expect, test } from 'vitest'
import { catalogue, type ErrorCode } from '../../src/errors.ts'
import { homeEndpoints } from '../../src/home/index.ts'
import { embedded, memoryPath, openService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'

const EVERYWHERE = [400, 401, 403, 429, 503]

const listed: Readonly<Record<string, readonly number[]>> = {
  'POST /api/agents/birth': [...EVERYWHERE, 409],
  'GET /api/agents/me': EVERYWHERE,
  'PATCH /api/agents/me': EVERYWHERE,
  'GET /api/agents/me/export': EVERYWHERE,
  'POST /api/agents/me/keys': EVERYWHERE,
  'GET /api/agents/me/memory': [...EVERYWHERE, 404],
  'POST /api/agents/me/memory': [...EVERYWHERE, 409, 413],
}

/** What only a parameter of ours can bring about. */
const ofOurs: Readonly<Record<string, readonly ErrorCode[]>> = {
  'GET /api/agents/me/memory': ['version_gone'],
}

test.each(Object.entries(listed))('%s answers what is listed', (operation, statuses) => {
  const found = homeEndpoints.find(({ method, path }) => `${method} ${path}` === operation)
  expect(found?.errors.length).toBeGreaterThan(4)
  const codes = found?.errors.filter((code) => !ofOurs[operation]?.includes(code))
  const answered = codes?.map((code) => catalogue[code].status)
  expect(answered?.filter((status) => !statuses.includes(status))).toEqual([])
})

test('a version that is gone is told to whoever asks for a version', async () => {
  const service = await openService(embedded, { VERSIONS_PER_MEMORY: '1' })
  const { token } = await service.birth()
  await write(service, token, 'plan', 'Step 1')
  await write(service, token, 'plan', 'Step 2', 1)
  const read = (query: string) => service.call('GET', `${memoryPath}?key=plan${query}`, { token })
  expect((await read('')).status).toBe(200)
  expectProblem(await read('&version=1'), 'version_gone')
  await service.close()
})
