/** A file that takes longer to send than any other request may. */
import { request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { birth, readMemory, type Tokens } from './calls.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'

const AT = '2026-11-21T10:00:00.000Z'
const PIECES = 12
/** Three times what any other request has, in pieces that come in time. */
const PAUSE_MS = 250

const memory = (n: number): string =>
  JSON.stringify({
    ...{ id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e', key: `k${String(n).padStart(2, '0')}` },
    ...{ text: 'x'.repeat(8_000), metadata: {}, version: 1, createdAt: AT, updatedAt: AT },
  })

const head = `{"format":"service-home-v1","agent":{},"exportedAt":"${AT}","memoryCount":${PIECES},"memories":[`

function* file(): Generator<string> {
  yield head
  for (let n = 0; n < PIECES; n++) yield (n > 0 ? ',' : '') + memory(n)
  yield ']}'
}

let server: Server
let tokens: Tokens
beforeAll(async () => {
  server = await serve({ directory: freshDirectory(), entry: 'test/process/hurried.ts' })
  tokens = await birth(server.url)
})
afterAll(cleanUp)

interface Sent {
  readonly status: number
  readonly text: string
  readonly tookMs: number
}

/** Sends piece by piece; one that never ends leaves it to the server. */
async function send(path: string, pieces: AsyncIterable<string>): Promise<Sent> {
  const startedAt = performance.now()
  const { promise, resolve, reject } = Promise.withResolvers<Sent>()
  const headers = {
    authorization: `Bearer ${tokens.operator_token}`,
    'content-type': 'application/json',
  }
  const sending = request(`${server.url}${path}`, { method: 'POST', headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    const tookMs = performance.now() - startedAt
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text, tookMs }))
  })
  sending.on('error', reject)
  const write = async () => {
    for await (const piece of pieces) if (!sending.destroyed) sending.write(piece)
    sending.end()
  }
  write().catch(reject)
  return promise
}

async function* slowly(): AsyncGenerator<string> {
  for (const piece of file()) {
    yield piece
    await pause(PAUSE_MS)
  }
}

async function* stopping(): AsyncGenerator<string> {
  yield head
  await new Promise(() => {})
}

test('an import may take longer than any other request, if it keeps coming', async () => {
  const { status, text, tookMs } = await send('/api/agents/me/import', slowly())
  expect([status, text]).toEqual([200, `{"imported":${PIECES},"skipped":0,"conflicts":[]}`])
  expect(tookMs).toBeGreaterThan(2_000)
  const { memory } = await readMemory(server.url, tokens.token, 'k11')
  expect(memory.text).toHaveLength(8_000)
})

test('one that stops coming is ended', async () => {
  const { status, text, tookMs } = await send('/api/agents/me/import', stopping())
  expect([status, JSON.parse(text).code]).toEqual([408, 'request_timeout'])
  expect(tookMs).toBeGreaterThan(1_400)
})

test('what is no import has the time of any request, however it keeps coming', async () => {
  const { status, text } = await send('/api/agents/me/batch', slowly())
  expect([status, JSON.parse(text).code]).toEqual([408, 'request_timeout'])
})
