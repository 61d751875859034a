import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCompressor } from '../../src/http/compress.ts'
import { listen } from '../../src/http/server.ts'
import { endpoints } from '../endpoints.ts'
import { embedded, write } from '../harness.ts'
import { type Listening, openListening, siteOf } from './listening.ts'

let listening: Listening
beforeAll(async () => {
  listening = await openListening(embedded)
  const { call } = listening.service
  const text = 'a trace '.repeat(2_000)
  await call('POST', '/api/garden', { body: { text } })
  await write(listening.service, listening.born.token, 'long', text)
})
afterAll(() => listening.close())

interface Got {
  readonly status: number | undefined
  readonly headers: IncomingMessage['headers']
  /** As they came. */
  readonly bytes: Buffer
}

async function get(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
  port = listening.port,
): Promise<Got> {
  const asked = request({ port, path, method, headers }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece as Buffer)
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(pieces) }
}

const taking = (codings: string) => ({ 'accept-encoding': codings })

const PUBLIC = ['/openapi.json', '/api/garden', '/api/discover', '/api/agents/preview']

test.each(PUBLIC)('%s is compressed for who takes gzip, and says that it depends', async (path) => {
  const plain = await get(path, taking('identity'))
  const packed = await get(path, taking('br, gzip;q=0.8'))
  expect(plain.headers['content-encoding']).toBeUndefined()
  expect(packed.headers['content-encoding']).toBe('gzip')
  for (const { headers, bytes } of [plain, packed]) {
    expect(headers.vary).toContain('Accept-Encoding')
    expect(headers['content-length']).toBe(String(bytes.length))
  }
  expect(plain.bytes.length).toBeGreaterThan(packed.bytes.length * 2)
  const timeless = (text: Buffer) => String(text).replace(/"timestamp":"[^"]+"/, '')
  expect(timeless(gunzipSync(packed.bytes))).toBe(timeless(plain.bytes))
})

test.each(['', 'identity', 'br', 'gzip;q=0', '*;q=0', 'gzip;q=0, *'])(
  'who takes "%s" gets it as it is',
  async (codings) => {
    const { headers } = await get('/openapi.json', codings ? taking(codings) : {})
    expect(headers['content-encoding']).toBeUndefined()
  },
)

test('who takes anything takes gzip', async () => {
  const { headers } = await get('/openapi.json', taking('br;q=0.5, *;q=0.1'))
  expect(headers['content-encoding']).toBe('gzip')
})

test('what is short goes as it is', async () => {
  const { headers, bytes } = await get('/api/garden?identity=nobody', taking('gzip'))
  expect(bytes.length).toBeLessThan(4_096)
  expect(headers['content-encoding']).toBeUndefined()
})

test('the tag is weak, and still known', async () => {
  const { headers } = await get('/openapi.json', taking('gzip'))
  const etag = headers.etag ?? ''
  expect(etag).toMatch(/^W\/"/)
  const again = await get('/openapi.json', { ...taking('gzip'), 'if-none-match': etag })
  expect([again.status, again.bytes.length]).toEqual([304, 0])
})

test('HEAD has the headers of what it stands for, uncompressed', async () => {
  const { headers, bytes } = await get('/openapi.json', taking('gzip'), 'HEAD')
  expect([headers['content-encoding'], bytes.length]).toEqual([undefined, 0])
})

describe('what a token opens', () => {
  test.each(['memory?key=long', 'memories?view=whole', 'export'])(
    '%s goes as it is',
    async (path) => {
      const { token } = listening.born
      const headers = { ...taking('gzip'), authorization: `Bearer ${token}` }
      const got = await get(`/api/agents/me/${path}`, headers)
      expect([got.status, got.headers['content-encoding']]).toEqual([200, undefined])
      expect(got.headers.vary ?? '').not.toContain('Accept-Encoding')
      expect(got.bytes.length).toBeGreaterThan(4_096)
    },
  )

  test('no endpoint that asks who calls says that it may be compressed', () => {
    const asking = endpoints.filter(({ guards }) =>
      guards.some(({ security, name }) => security || name === 'session'),
    )
    expect(asking.length).toBeGreaterThan(30)
    const mayBe = asking.filter(({ guards }) =>
      guards.some(({ headers = [] }) => headers.includes('Content-Encoding')),
    )
    expect(mayBe).toEqual([])
  })
})

test('a live stream goes as it is', async () => {
  const asked = request({ port: listening.port, path: '/api/resonance/stream' })
  asked.setHeader('accept-encoding', 'gzip')
  const [response] = (await once(asked.end(), 'response')) as [IncomingMessage]
  expect(response.headers['content-encoding']).toBeUndefined()
  asked.destroy()
})

test('what is long, and asked for many times at once, comes whole', async () => {
  const body = randomBytes(1_000_000).toString('hex')
  const headers = { Vary: 'Accept-Encoding', 'Content-Length': String(body.length) }
  const long = await listen(
    siteOf(async () => ({ status: 200, headers, body })),
    '127.0.0.1',
    0,
  )
  const asked = Array.from({ length: 8 })
  const got = await Promise.all(asked.map(() => get('/', taking('gzip'), 'GET', long.port)))
  const packed = got.filter((each) => each.headers['content-encoding'] === 'gzip')
  expect(packed.length).toBeGreaterThan(0)
  for (const each of got) {
    const bytes = packed.includes(each) ? gunzipSync(each.bytes) : each.bytes
    expect(bytes.toString() === body).toBe(true)
  }
  await long.drain()
})

test('others have turns of the event loop while an answer is compressed', async () => {
  const body = randomBytes(4_000_000).toString('hex')
  const answer = { status: 200, headers: { Vary: 'Accept-Encoding' }, body }
  let isOver = false
  const compressing = Promise.resolve(createCompressor()(answer, 'gzip')).finally(() => {
    isOver = true
  })
  let turns = 0
  for (; !isOver; turns++) await turnOfTheLoop()
  expect((await compressing)?.bytes.length).toBeGreaterThan(0)
  expect(turns).toBeGreaterThan(20)
})
