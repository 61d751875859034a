/** What the id of a request says to whoever gets it. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { requestIds } from '../../src/pipeline/request-log.ts'
import { embedded, openService } from '../harness.ts'

const COUNT = 20_000

test('each is another, and none tells how many there were', () => {
  const next = requestIds(randomBytes)
  const ids = Array.from({ length: COUNT }, next)
  expect(new Set(ids).size).toBe(COUNT)
  expect(ids.every((id) => /^[0-9a-f]{24}$/.test(id))).toBe(true)
  // No digit's place is a prefix or a counter: each takes every value about equally often.
  for (let place = 0; place < 24; place++) {
    const counts = Object.values(Object.groupBy(ids, (id) => id[place] ?? ''))
    expect(counts).toHaveLength(16)
    for (const group of counts) expect(group?.length).toBeLessThan((COUNT / 16) * 1.25)
  }
})

test('no two of one service begin alike', async () => {
  const service = await openService(embedded)
  const ask = async () => (await service.call('GET', '/healthz')).headers.get('x-request-id')
  const [one = '', other = ''] = [await ask(), await ask()].map(String)
  expect(one.slice(0, 8)).not.toBe(other.slice(0, 8))
  await service.close()
})
