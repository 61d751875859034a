/** What a body may cost everybody else: while it is parsed, nobody is answered. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { decodeJson, parseStrictJson } from '../../src/http/json.ts'
import { embedded, freshKey } from '../harness.ts'
import { hostileBodies } from './hostile-bodies.ts'
import { type Listening, openListening } from './listening.ts'
import { request, send } from './socket.ts'

const KIB = 1_024

const TRIES = 20

/** Past every bound: further tries would only take long. */
const HOPELESS_MS = 1_000

const bodies = Object.entries(hostileBodies).map(
  ([name, write]) => [name, (bytes: number) => Buffer.from(write(bytes - KIB))] as const,
)

/** The least of some tries, for the machine is busy with more than this; less than `bound` will do. */
async function least(bound: number, measure: () => number | Promise<number>): Promise<number> {
  let found = await measure()
  for (let tries = 1; tries < TRIES && found >= bound && found < HOPELESS_MS; tries++) {
    found = Math.min(found, await measure())
  }
  return found
}

function parse(body: Buffer): void {
  try {
    parseStrictJson(decodeJson(body))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
  }
}

const msToParse = (body: Buffer) => () => {
  const startedAt = performance.now()
  parse(body)
  return performance.now() - startedAt
}

test.each(bodies)('%s is read in a time that grows as it does', async (_, of) => {
  const small = await least(0, msToParse(of(8 * KIB)))
  // Sixteen times the body should take 16 times as long, and takes 256 times where its reader goes
  // over it again and again. The least is for noise.
  const bound = 128 * Math.max(small, 0.2)
  expect(await least(bound, msToParse(of(128 * KIB)))).toBeLessThan(bound)
})

describe('while a hostile body is read', () => {
  const delays = monitorEventLoopDelay({ resolution: 1 })
  let home: Listening
  beforeAll(async () => {
    home = await openListening(embedded)
    delays.enable()
  })
  afterAll(async () => {
    delays.disable()
    await home.close()
  })

  const post = (path: string, body: Buffer) =>
    request(
      `POST ${path} HTTP/1.1`,
      [
        'Content-Type: application/json',
        `Idempotency-Key: ${freshKey()}`,
        `Content-Length: ${body.length}`,
      ],
      body,
    )

  /** How long nothing else was done. Where others had the processor meanwhile, its time counts. */
  async function longestWait(bytes: Buffer): Promise<number> {
    delays.reset()
    while (delays.count === 0) await new Promise(setImmediate)
    const before = process.threadCpuUsage()
    expect([200, 201, 400]).toContain((await send(home.port, bytes)).status)
    const { user, system } = process.threadCpuUsage(before)
    return Math.min(delays.max / 1e6, (user + system) / 1e3)
  }

  describe.each([
    ['/api/garden', 64 * KIB, 25],
    ['/api/agents/birth', 128 * KIB, 50],
  ])('%s', (path, bytes, boundMs) => {
    test.each(bodies)(`%s keeps nobody waiting for ${boundMs} ms`, async (_, of) => {
      const sent = post(path, of(bytes))
      expect(await least(boundMs, () => longestWait(sent))).toBeLessThan(boundMs)
    })
  })
})
