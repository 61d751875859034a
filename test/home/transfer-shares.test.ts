/** Exports and imports are shared by client address: what one holds is room for nobody else to miss. */
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createImports } from '../../src/home/import/imports.ts'
import { createSpool } from '../../src/home/spool.ts'
import type { Answer } from '../../src/http/call.ts'
import {
  answerOf,
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

const EXPORT = '/api/agents/me/export'
const IMPORT = '/api/agents/me/import'

const [STRANGER, OTHER] = ['192.0.2.1', '192.0.2.2']

/** More than half of what one address may have waiting. */
const MEMORIES = 8
const TEXT = 'x'.repeat(16_000)
const ONE_SHARE = { EXPORT_BYTES: '200000', WRITES_PER_MINUTE: '0' }

async function bornWithMemories(service: TestService): Promise<Born> {
  const born = await service.birth()
  const keys = Array.from({ length: MEMORIES }, (_, n) => `k${n}`)
  await inGroups(keys, (key) => write(service, born.token, key, TEXT))
  return born
}

const leave = ({ body }: Answer): void => {
  if (body !== null && typeof body !== 'string') body.close()
}

describe('what one address holds of the room for exports and imports', () => {
  let service: TestService
  let theirs: readonly Born[]
  let mine: Born
  beforeAll(async () => {
    service = await openService(embedded, ONE_SHARE)
    theirs = [await bornWithMemories(service), await bornWithMemories(service)]
    mine = await bornWithMemories(service)
  })
  afterAll(() => service.close())

  const begin = ({ token }: Born, from: string) =>
    service.app.serve(incomingOf('GET', EXPORT, { token, from }))

  test('is room for its own second agent to miss alone, where a reader takes nothing', async () => {
    const [one, another] = theirs as [Born, Born]
    const slow = await begin(one, STRANGER)
    expect(slow.status).toBe(200)
    expectProblem(await answerOf('GET', await begin(another, STRANGER)), 'exports_busy')
    const given = await begin(mine, OTHER)
    expect(JSON.parse(await textOf(given)).memoryCount).toBe(MEMORIES)
    leave(slow)
    leave(await begin(another, STRANGER))
  })

  test('is room for its own second agent to miss alone, where an upload does not end', async () => {
    const [one, another] = theirs as [Born, Born]
    const sent = (await service.call('GET', EXPORT, { token: mine.token })).text
    const upload = new Readable({ read() {} })
    const incoming = incomingOf('POST', IMPORT, {
      token: one.operatorToken,
      from: STRANGER,
      body: {},
    })
    const unfinished = service.app.serve({ ...incoming, body: upload })
    upload.push(sent.slice(0, -10))
    const importBy = ({ operatorToken }: Born, from: string) =>
      service.call('POST', `${IMPORT}?onConflict=skip`, { token: operatorToken, from, body: sent })
    // Once what was sent has been taken.
    while (upload.readableLength > 0) await new Promise(setImmediate)
    expectProblem(await importBy(another, STRANGER), 'imports_busy')
    const imported = await importBy(mine, OTHER)
    expect([imported.status, imported.body]).toMatchObject([200, { skipped: MEMORIES }])
    upload.push(sent.slice(-10))
    upload.push(null)
    expect((await unfinished).status).toBe(409)
    expect((await importBy(another, STRANGER)).status).toBe(200)
  })
})

test('an agent whose import found no place may try again', () => {
  const imports = createImports(createSpool({ maxBytes: 0 }))
  const begun = Array.from({ length: 64 }, (_, n) => imports.begin(STRANGER, `agent ${n}`))
  const refused = () => imports.begin(STRANGER, 'mine')
  expect(refused).toThrow(expect.objectContaining({ code: 'imports_busy' }))
  begun[0]?.close()
  imports.begin(STRANGER, 'mine').close()
  for (const each of begun) each.close()
})

test.each(engines)(
  'exports of many agents of one address keep nobody else from theirs ($name)',
  async (engine) => {
    const service = await openService(engine)
    const theirs = await Promise.all(Array.from({ length: 9 }, () => bornWithMemories(service)))
    const mine = await bornWithMemories(service)
    const ended: string[] = []
    const exportOf = async ({ token }: Born, from: string) => {
      const { status } = await service.call('GET', EXPORT, { token, from })
      ended.push(`${status} ${from}`)
    }
    const under = theirs.map((each) => exportOf(each, STRANGER))
    await exportOf(mine, OTHER)
    await Promise.all(under)
    expect(ended).toHaveLength(10)
    expect(ended.every((each) => each.startsWith('200 '))).toBe(true)
    // The stranger's take turns among themselves: mine waits for none of those behind the first.
    expect(ended.indexOf(`200 ${OTHER}`)).toBeLessThan(9)
    await service.close()
  },
)
