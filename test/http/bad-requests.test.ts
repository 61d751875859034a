/** Requests that are wrong before any handler sees them, as bytes on a socket. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { listen } from '../../src/http/server.ts'
import { birthBody, embedded, freshKey, memoryPath } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { type Listening, openListening } from './listening.ts'
import { exchange, request, send } from './socket.ts'

const me = 'GET /api/agents/me HTTP/1.1'

/** Bytes that are no HTTP request at all. */
const noHttp: Readonly<Record<string, string | Buffer>> = {
  'random words': 'hello there\r\n\r\n',
  'a TLS greeting': Buffer.from('16030100c8010000c40303', 'hex'),
  'an HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown version': 'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'an unknown method': request('STEAL /api/agents/me HTTP/1.1'),
  'a method in lower case': request('get /api/agents/me HTTP/1.1'),
  'a space in the address': request('GET /api/agents/me now HTTP/1.1'),
  'a header without a colon': request(me, ['Authorization']),
  'a space before the colon': request(me, ['Authorization : Bearer a']),
  'a control character in a header': request(me, ['X-A: a\u0001b']),
  'a NUL in a header': request(me, ['X-A: a\0b']),
  'a folded header': request(me, ['X-A: a\r\n b']),
  'a bare line feed': Buffer.from(`${me}\nHost: a\nConnection: close\n\n`),
  'two lengths': request(`POST ${memoryPath} HTTP/1.1`, ['Content-Length: 2', 'Content-Length: 3']),
  'a negative length': request(`POST ${memoryPath} HTTP/1.1`, ['Content-Length: -1']),
  'a length in words': request(`POST ${memoryPath} HTTP/1.1`, ['Content-Length: two']),
  'a length with a sign': request(`POST ${memoryPath} HTTP/1.1`, ['Content-Length: +2']),
  'a length past counting': request(`POST ${memoryPath} HTTP/1.1`, [
    `Content-Length: ${'9'.repeat(40)}`,
  ]),
  'a length and chunks': request(
    `POST ${memoryPath} HTTP/1.1`,
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ),
  'an unknown transfer coding': request(`POST ${memoryPath} HTTP/1.1`, ['Transfer-Encoding: gzip']),
  'no Host': `${me}\r\nConnection: close\r\n\r\n`,
  'an empty Host': `${me}\r\nHost:\r\nConnection: close\r\n\r\n`,
  'a Host that is no host': `${me}\r\nHost: a b/c\r\nConnection: close\r\n\r\n`,
  'a Host with a port past counting': `${me}\r\nHost: a:99999\r\nConnection: close\r\n\r\n`,
  'two Hosts': `${me}\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n`,
  'a Host with an address in it': `${me}\r\nHost: a@b\r\nConnection: close\r\n\r\n`,
}

describe('a bad request', () => {
  let home: Listening
  let before: string
  beforeAll(async () => {
    home = await openListening(embedded)
    before = await home.state()
  })
  afterAll(() => home.close())

  const unchanged = async () => {
    expect(await home.state()).toBe(before)
    expect(home.service.logged.filter((line) => line.includes('"failed"'))).toEqual([])
  }

  const bearer = () => `Authorization: Bearer ${home.born.token}`

  test.each(Object.entries(noHttp))('%s is refused as no valid HTTP', async (_, bytes) => {
    expectProblem(await send(home.port, bytes), 'malformed_request')
    await unchanged()
  })

  test('headers over 16 KiB are refused, and just below are read', async () => {
    const padded = (size: number) => request(me, [bearer(), `X-Padding: ${'a'.repeat(size)}`])
    expectProblem(await send(home.port, padded(17_000)), 'header_too_large')
    expectProblem(await send(home.port, padded(1_000_000)), 'header_too_large')
    expect((await send(home.port, padded(15_000))).status).toBe(200)
    const many = Array.from({ length: 3_000 }, (_, n) => `X-${n}: a`)
    expectProblem(await send(home.port, request(me, many)), 'header_too_large')
    await unchanged()
  })

  test('a long address is refused, and one within the headers’ limit is answered', async () => {
    const long = (size: number) => request(`GET /${'a'.repeat(size)} HTTP/1.1`)
    expectProblem(await send(home.port, long(20_000)), 'header_too_large')
    expectProblem(await send(home.port, long(8_000)), 'not_found')
  })

  const duplicates: [string, () => Buffer][] = [
    ['Authorization', () => request(me, [bearer(), bearer()])],
    [
      'Authorization in another case',
      () => request(me, [bearer(), bearer().replace('Authorization', 'AUTHORIZATION')]),
    ],
    [
      'Content-Type',
      () =>
        request(
          `POST ${memoryPath} HTTP/1.1`,
          [
            bearer(),
            'Content-Type: application/json',
            'Content-Type: application/json',
            'Content-Length: 2',
          ],
          '{}',
        ),
    ],
    [
      'Idempotency-Key',
      () => {
        const body = JSON.stringify(birthBody)
        const key = `Idempotency-Key: ${freshKey()}`
        const headers = ['Content-Type: application/json', `Content-Length: ${body.length}`]
        return request('POST /api/agents/birth HTTP/1.1', [key, key, ...headers], body)
      },
    ],
  ]

  test.each(duplicates)('%s sent twice is refused', async (_, bytes) => {
    expectProblem(await send(home.port, bytes()), 'duplicate_header')
    await unchanged()
  })

  const methods: [string, ErrorCode][] = [
    ['PUT /api/agents/me', 'method_not_allowed'],
    ['DELETE /api/agents/me', 'method_not_allowed'],
    ['TRACE /api/agents/me', 'method_not_allowed'],
    ['PROPFIND /api/agents/me', 'method_not_allowed'],
    ['PUT /api/agents/me/memory?key=kept', 'method_not_allowed'],
    ['GET /api/agents/birth', 'method_not_allowed'],
    ['POST /api/agents/preview', 'method_not_allowed'],
    ['GET /api/agents/you', 'not_found'],
    ['GET /api/agents/me/../../../etc/passwd', 'malformed_request'],
    ['GET /api/agents/me%00', 'malformed_request'],
    ['BREW /coffee', 'malformed_request'],
  ]

  test.each(methods)('%s is refused', async (line, code) => {
    expectProblem(await send(home.port, request(`${line} HTTP/1.1`, [bearer()])), code)
    await unchanged()
  })

  test('an origin beside a Host that makes none is another origin', async () => {
    const line = `${me}\r\nHost: 300.300.300.300\r\nOrigin: http://300.300.300.300\r\n`
    const asked = Buffer.from(`${line}${bearer()}\r\nConnection: close\r\n\r\n`)
    expectProblem(await send(home.port, asked), 'origin_denied')
  })

  test('an address in the request line is answered as its path', async () => {
    const absolute = request('GET http://home.test/api/agents/me HTTP/1.1', [bearer()])
    expect((await send(home.port, absolute)).status).toBe(200)
  })

  test.each(['CONNECT home.test:443', 'OPTIONS *'])('%s is no way in', async (line) => {
    const answer = await send(home.port, request(`${line} HTTP/1.1`, [bearer()]))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  test('a client that was refused and stays is let go, and one that resets harms nobody', async () => {
    const connectLine = 'CONNECT home.test:443 HTTP/1.1\r\nHost: home.test\r\n\r\n'
    const resetting = connect(home.port, '127.0.0.1')
    resetting.write(connectLine)
    await once(resetting, 'data')
    resetting.resetAndDestroy()
    const staying = connect({ port: home.port, host: '127.0.0.1', allowHalfOpen: true })
    staying.write(connectLine)
    staying.resume()
    await once(staying, 'end')
    const talking = setInterval(() => staying.write('still here'), 50)
    await once(staying, 'error')
    clearInterval(talking)
    await unchanged()
  })

  test('an upgrade that nobody offers is answered as the request it is', async () => {
    const upgrade = Buffer.from(
      `${me}\r\nHost: home.test\r\n${bearer()}\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    )
    expect((await send(home.port, upgrade)).status).toBe(200)
  })

  test('an expectation that nobody knows changes nothing', async () => {
    expect((await send(home.port, request(me, [bearer(), 'Expect: miracles']))).status).toBe(200)
  })

  test('HEAD has no body, and a request after it on the same connection is answered', async () => {
    const keepAlive = `HEAD /api/agents/me HTTP/1.1\r\nHost: home.test\r\n${bearer()}\r\n\r\n`
    const both = Buffer.concat([Buffer.from(keepAlive), request(me, [bearer()])])
    const text = (await exchange(home.port, both)).toString()
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2)
    expect(text.match(/"memoryCount"/g)).toHaveLength(1)
  })

  test('what follows a body on the connection is a request of its own, never part of it', async () => {
    const body = '{"key":"kept","text":"","expectedVersion":1}'
    const head = `POST ${memoryPath} HTTP/1.1\r\nHost: home.test\r\n${bearer()}\r\n`
    const first = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const both = Buffer.concat([Buffer.from(first), request(me, ['X-No: credential'])])
    const text = (await exchange(home.port, both)).toString()
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 401'])
    await unchanged()
  })

  test('a request that stops half-way is ended with 408, its head or its body', async () => {
    const slow = await openListening(embedded, ({ app }) =>
      listen(app, '127.0.0.1', 0, {
        headersTimeout: 100,
        requestTimeout: 200,
        connectionsCheckingInterval: 20,
      }),
    )
    const stopped = await slow.state()
    const started = `POST ${memoryPath} HTTP/1.1\r\nHost: home.test\r\n`
    expectProblem(await send(slow.port, started), 'request_timeout')
    const headers = `Authorization: Bearer ${slow.born.token}\r\nContent-Type: application/json\r\n`
    const halfBody = `${started}${headers}Content-Length: 99\r\n\r\n{"key":"kept"`
    expectProblem(await send(slow.port, halfBody), 'request_timeout')
    expect(await slow.state()).toBe(stopped)
    await slow.close()
  })
})
