/** What a rollback says of what it cannot bring back. */
import { expect, test } from 'vitest'
import { embedded } from '../harness.ts'
import { opening } from './memories/kept.ts'

test('of memories whose version of then is gone a thousand are listed', async () => {
  const MANY = 1_100
  // The texts of now leave room for one of then.
  await using kept = await opening(embedded, { BYTES_PER_AGENT: '1048576' })
  const { post, ask, operatorToken: token } = kept
  const writeAll = async (text: string, expectedVersion: number) => {
    for (let n = 0; n < MANY; n += 50) {
      const operations = Array.from({ length: 50 }, (_, at) => ({
        write: { key: `k${n + at}`, text, expectedVersion },
      }))
      expect((await post('/batch', { operations })).status).toBe(200)
    }
  }
  await writeAll('x'.repeat(800), 0)
  await writeAll('x'.repeat(950), 1)
  const body = { to: MANY, dryRun: true }
  const answer = await ask('POST', '/rollback', { token, body })
  expect(answer.body.restored).toBeLessThanOrEqual(1)
  expect(answer.body.skipped).toHaveLength(1_000)
})

test('of an event whose next ones are gone it is told which is the first that is there', async () => {
  await using kept = await opening(embedded, { EVENTS_PER_AGENT: '64' })
  const { post, ask, operatorToken: token } = kept
  const operations = Array.from({ length: 32 }, () => ({ append: { key: 'log', text: '.' } }))
  for (let events = 0; events < 128; events += operations.length) {
    expect((await post('/batch', { operations })).status).toBe(200)
  }
  const back = (to: number) => ask('POST', '/rollback', { token, body: { to, dryRun: true } })
  expect(await back(63)).toMatchObject({ status: 410, body: { code: 'event_gone', first: 65 } })
  expect((await back(64)).status).toBe(200)
})
