/** The interface lists the codes of its operations; none of them answers another. */
import { expect, test } from 'vitest'
import { catalogue } from '../../src/errors.ts'
import { homeEndpoints } from '../../src/home/index.ts'

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

test.each(Object.entries(listed))('%s answers what is listed', (operation, statuses) => {
  const found = homeEndpoints.find(({ method, path }) => `${method} ${path}` === operation)
  expect(found?.errors.length).toBeGreaterThan(4)
  const answered = found?.errors.map((code) => catalogue[code].status)
  expect(answered?.filter((status) => !statuses.includes(status))).toEqual([])
})
