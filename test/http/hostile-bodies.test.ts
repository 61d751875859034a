/** What a body may cost everybody else: while it is parsed, nobody is answered. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { decodeJson, parseStrictJson } from '../../src/http/json.ts'
import { embedded, freshKey } from '../harness.ts'
import { hostileBodies } from './hostile-bodies.ts'
import { type Listening, openListening } from './listening.ts'
import { least, longestWait, threadMs } from './longest-wait.ts'
import { request, send } from './socket.ts'

const KIB = 1_024

const bodies = Object.entries(hostileBodies).map(
  ([name, write]) => [name, (bytes: number) => Buffer.from(write(bytes - KIB))] as const,
)

function parse(body: Buffer): void {
  try {
    parseStrictJson(decodeJson(body))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

const msToParse = (body: Buffer) => () => {
  const startedAt = threadMs()
  parse(body)
  return threadMs() - startedAt
}

test.each(bodies)('%s is read in a time that grows as it does', async (_, of) => {
  const small = await least(0, msToParse(of(8 * KIB)))
  // Sixteen times the body should take 16 times as long, and takes 256 times where its reader goes
  // over it again and again. The least is for noise.
  const bound = 128 * Math.max(small, 0.2)
  expect(await least(bound, msToParse(of(128 * KIB)))).toBeLessThan(bound)
})

describe('while a hostile body is read', () => {
  let home: Listening
  beforeAll(async () => {
    home = await openListening(embedded)
  })
  afterAll(async () => {
    await home.close()
  })

  const post = (path: string, body: Buffer, header = `Idempotency-Key: ${freshKey()}`) =>
    request(
      `POST ${path} HTTP/1.1`,
      ['Content-Type: application/json', header, `Content-Length: ${body.length}`],
      body,
    )

  const waitFor = (bytes: Buffer, statuses = [200, 201, 400]): Promise<number> =>
    longestWait(async () => {
      expect(statuses).toContain((await send(home.port, bytes)).status)
    })

  test.each(bodies)('a batch of 1 MiB with %s keeps nobody waiting', async (_, of) => {
    const change = '{"write":{"key":"a","text":"b","expectedVersion":0,"metadata":{"of":'
    const body = Buffer.concat([
      Buffer.from(`{"operations":[${change}`),
      of(1_024 * KIB),
      Buffer.from('}}}]}'),
    ])
    const bearer = `Authorization: Bearer ${home.born.token}`
    const sent = post('/api/agents/me/batch', body, bearer)
    // Twice what it takes: of all bodies it is the largest.
    expect(await least(50, () => waitFor(sent, [400, 413]))).toBeLessThan(50)
  })

  describe.each([
    ['/api/garden', 64 * KIB, 25],
    ['/api/agents/birth', 128 * KIB, 25],
  ])('%s', (path, bytes, boundMs) => {
    test.each(bodies)(`%s keeps nobody waiting for ${boundMs} ms`, async (_, of) => {
      const sent = post(path, of(bytes))
      expect(await least(boundMs, () => waitFor(sent))).toBeLessThan(boundMs)
    })
  })
})
