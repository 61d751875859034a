/** What an import takes while it comes in: little memory, and a little at a time. */
import { Readable } from 'node:stream'
import { serialize, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tell } from '../effort.ts'
import { answerOf, engines, incomingOf, openService, type TestService } from '../harness.ts'
import { longestWait } from '../http/longest-wait.ts'
import { mostInATurn } from '../per-turn.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const MIB = 1024 * 1024
const MEMORIES = 1_000
const PIECE_BYTES = 65_536

/** Pieces; all that a worker has loaded is looked through each time. */
const MEASURED_EVERY = 128

const AT = '2020-11-21T10:00:00.000Z'

/** Half of it must be escaped, as in a text of many lines. */
const TEXT = 'x\n'.repeat(8_192)

function* file(): Generator<string> {
  const head = { format: 'service-home-v1', agent: {}, exportedAt: AT, memoryCount: MEMORIES }
  yield `${JSON.stringify(head).slice(0, -1)},"memories":[`
  for (let n = 0; n < MEMORIES; n++) {
    const times = { createdAt: AT, updatedAt: AT }
    const id = '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e'
    const key = `k${String(n).padStart(4, '0')}`
    yield (n > 0 ? ',' : '') +
      JSON.stringify({ id, key, text: TEXT, metadata: {}, version: 1, ...times })
  }
  yield ']}'
}

/** As a socket gives it. */
function* pieces(): Generator<Buffer> {
  let rest = Buffer.alloc(0)
  for (const part of file()) {
    rest = Buffer.concat([rest, Buffer.from(part)])
    for (; rest.length >= PIECE_BYTES; rest = rest.subarray(PIECE_BYTES)) {
      yield rest.subarray(0, PIECE_BYTES)
    }
  }
  yield rest
}

/** `count`: told how many characters of JSON are read while the work is done. */
async function reading(count: (read: number) => void, work: () => Promise<void>): Promise<void> {
  const { parse } = JSON
  JSON.parse = (text, ...rest) => {
    count(text.length)
    return parse(text, ...rest)
  }
  await work().finally(() => {
    JSON.parse = parse
  })
}

/** The most bytes that an engine is handed at once while the work is done. */
async function mostHandedOver(work: () => Promise<void>): Promise<number> {
  let most = 0
  const handed = (what: unknown) => {
    most = Math.max(most, serialize(what).length)
  }
  const { postMessage } = Worker.prototype
  const { query } = pg.Client.prototype
  Worker.prototype.postMessage = function (message, ...rest) {
    handed(message)
    return postMessage.call(this, message, ...rest)
  }
  pg.Client.prototype.query = function (
    this: pg.Client,
    asked: pg.QueryConfig,
    ...rest: unknown[]
  ) {
    handed([asked.values, typeof rest[0] === 'function' ? [] : rest[0]])
    return Reflect.apply(query, this, [asked, ...rest])
  } as typeof query
  await work().finally(() => {
    Worker.prototype.postMessage = postMessage
    pg.Client.prototype.query = query
  })
  return most
}

describe.each(engines)('an import of 16 MiB of texts on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  async function bring(seen: () => void = () => {}, query = '') {
    const { operatorToken: token } = await service.birth()
    async function* body() {
      for (const piece of pieces()) {
        seen()
        yield piece
      }
    }
    const incoming = incomingOf('POST', `/api/agents/me/import${query}`, { token, body: '' })
    const sent = Readable.from(body(), { highWaterMark: 1 })
    const answer = await answerOf('POST', await service.app.serve({ ...incoming, body: sent }))
    expect([answer.status, answer.body.imported]).toEqual([200, MEMORIES])
  }

  test('it holds a few MiB', async () => {
    const held = () => {
      collectGarbage()
      collectGarbage()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const before = held()
    let peak = 0
    let count = 0
    await bring(() => {
      if (++count % MEASURED_EVERY === 0) peak = Math.max(peak, held() - before)
    })
    expect(peak / MIB).toBeLessThan(8)
  })

  test('whoever else is served has a turn after a few of its pieces, and of its rows', async () => {
    const pieces = await mostInATurn((count) => bring(() => count(1)))
    const read = await mostInATurn((count) => reading(count, () => bring()))
    // Of 256.
    expect(pieces).toBeLessThanOrEqual(4)
    expect(read).toBeGreaterThan(PIECE_BYTES / 2)
    expect(read).toBeLessThan(4 * PIECE_BYTES)
    const handed = await mostHandedOver(() => bring())
    expect(handed).toBeGreaterThan(PIECE_BYTES / 2)
    expect(handed).toBeLessThan(9 * PIECE_BYTES)
    const turn = () => longestWait(() => bring())
    await tell(`longest turn of an import on ${engine.name}, in ms`, turn)
  })
})
