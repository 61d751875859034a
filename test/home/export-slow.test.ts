/** Exports whose readers take nothing: what they hold, and what others notice. */
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { Answer } from '../../src/http/call.ts'
import {
  type Born,
  embedded,
  engines,
  incomingOf,
  inGroups,
  openService,
  type TestService,
  textOf,
  write,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'

const path = '/api/agents/me/export'

/** More than any socket or pool takes at once. */
const SLOW_READERS = 12

async function bornWith(service: TestService, memories: number): Promise<Born> {
  const born = await service.birth()
  const keys = Array.from({ length: memories }, (_, n) => `k${n}`)
  await inGroups(keys, (key) => write(service, born.token, key, 'x'.repeat(16_000)))
  return born
}

const begin = ({ app }: TestService, { token }: Born): Promise<Answer> =>
  app.serve(incomingOf('GET', path, { token }))

const leave = ({ body }: Answer): void => {
  if (body !== null && typeof body !== 'string') body.close()
}

test.each(engines)('slow exports keep nobody else from theirs ($name)', async (engine) => {
  const service = await openService(engine)
  const slow: Answer[] = []
  for (let n = 0; n < SLOW_READERS; n++)
    slow.push(await begin(service, await bornWith(service, 10)))
  expect(slow.map(({ status }) => status)).toEqual(slow.map(() => 200))
  const { token } = await service.birth()
  expect((await service.call('GET', path, { token })).status).toBe(200)
  const [first] = slow
  expect(JSON.parse(first ? await textOf(first) : '').memoryCount).toBe(10)
  slow.forEach(leave)
  await service.close()
})

test('a slow export does not keep the log from being moved into the database', async () => {
  const database = await embedded.fresh()
  const service = await openService({ ...embedded, fresh: async () => database })
  const born = await bornWith(service, 10)
  const slow = await begin(service, born)
  expect((await write(service, born.token, 'k0', 'after it began', 1)).status).toBe(200)
  const beside = new DatabaseSync(database.url.replace('sqlite:', ''))
  // Busy while anybody reads an earlier state: for good, if the export did.
  const restart = () => beside.prepare('PRAGMA wal_checkpoint(RESTART)').get()?.busy
  await expect.poll(restart).toBe(0)
  beside.close()
  leave(slow)
  await service.close()
})

test.each(engines)(
  'one export of an agent is sent at a time, and one of its operator ($name)',
  async (engine) => {
    const service = await openService(engine)
    const mine = await bornWith(service, 1)
    const others = await bornWith(service, 1)
    const under = await begin(service, mine)
    const body = { name: 'reader', access: 'read' }
    const named = { token: mine.operatorToken, body }
    const key = await service.call('POST', '/api/agents/me/keys/named', named)
    const refused = await service.call('GET', path, { token: `${key.body.token}` })
    expectProblem(refused, 'export_running')
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await service.call('GET', path, { token: others.token })).status).toBe(200)
    const ofOperator = await begin(service, { ...mine, token: mine.operatorToken })
    expect(ofOperator.status).toBe(200)
    const again = await service.call('GET', path, { token: mine.operatorToken })
    expectProblem(again, 'export_running')
    leave(ofOperator)
    leave(under)
    expect((await service.call('GET', path, { token: mine.token })).status).toBe(200)
    await service.close()
  },
)
