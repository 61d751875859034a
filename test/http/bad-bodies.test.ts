/** Bodies that must be refused, sent over a real socket to an endpoint that would store them. */
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/errors.ts'
import { embedded, memoryPath } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'
import { type Listening, openListening } from './listening.ts'
import { chunked, exchange, request, send } from './socket.ts'

const good = '{"key":"kept","text":"changed","expectedVersion":1}'

const withMetadata = (metadata: string) =>
  `{"key":"kept","text":"changed","metadata":${metadata},"expectedVersion":1}`

const withText = (json: string) => `{"key":"kept","text":${json},"expectedVersion":1}`

const withVersion = (json: string) => `{"key":"kept","text":"changed","expectedVersion":${json}}`

/** The text's bytes, with some of them replaced by bytes that no text has. */
const withBytes = (...bytes: number[]) => {
  const [before, after] = withText('"~"').split('~')
  return Buffer.concat([Buffer.from(before ?? ''), Buffer.from(bytes), Buffer.from(after ?? '')])
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

const malformed: Readonly<Record<string, string | Buffer>> = {
  'no body': '',
  'only spaces': ' \n\t ',
  'a word': 'nope',
  'an open brace': '{',
  'a truncated body': good.slice(0, -1),
  'a body truncated inside a string': good.slice(0, 12),
  'a trailing comma': good.replace('}', ',}'),
  'single quotes': good.replaceAll('"', "'"),
  'a comment': `/* hello */ ${good}`,
  'two values': `${good}${good}`,
  'a value and more': `${good} x`,
  'a byte order mark': `\ufeff${good}`,
  'a leading zero': withVersion('01'),
  'a bare NaN': withVersion('NaN'),
  'a plus sign': withVersion('+1'),
  'a hexadecimal number': withVersion('0x1'),
  'a raw line break in a string': withText('"a\nb"'),
  'a raw NUL byte in a string': withText('"a\0b"'),
  'an unknown escape': withText('"\\x41"'),
  'UTF-16': Buffer.from(good, 'utf16le'),
  'Latin-1': Buffer.from(withText('"é"'), 'latin1'),
  'the byte FF': withBytes(0xff),
  'a lone continuation byte': withBytes(0x80),
  'an overlong slash': withBytes(0xc0, 0xaf),
  'a character cut short': withBytes(0xf0, 0x9f, 0x8c),
  'a surrogate as bytes': withBytes(0xed, 0xa0, 0x80),
  'a character past U+10FFFF': withBytes(0xf4, 0x90, 0x80, 0x80),
  'a duplicate key': good.replace('{', '{"key":"other",'),
  'a duplicate key with the same value': good.replace('{', '{"key":"kept",'),
  'a duplicate key spelt with an escape': good.replace('{', '{"k\\u0065y":"other",'),
  'a duplicate key in metadata': withMetadata('{"a":1,"b":{"c":1,"c":2}}'),
  'a duplicate key with a quote in it': withMetadata('{"a\\"":1,"a\\"":2}'),
  'a __proto__ key': good.replace('{', '{"__proto__":{"admin":true},'),
  'a __proto__ key in metadata': withMetadata('{"__proto__":1}'),
  'a __proto__ key deep in metadata': withMetadata('{"a":[{"__proto__":1}]}'),
  'a __proto__ key spelt with an escape': withMetadata('{"\\u005f_proto__":1}'),
  'a body 33 levels deep': withMetadata(`{"a":${nested(31)}}`),
  'a body 500 levels deep': withMetadata(`{"a":${nested(500)}}`),
  'a body 60,000 levels deep': withMetadata(`{"a":${nested(60_000)}}`),
  'brackets that never close': '['.repeat(100_000),
  'a high surrogate alone': withText('"\\ud800"'),
  'a low surrogate alone': withText('"a\\udc00b"'),
  'surrogates in the wrong order': withText('"\\udc00\\ud800"'),
  'a lone surrogate in metadata': withMetadata('{"a":["\\ud83c"]}'),
  'a lone surrogate in a metadata key': withMetadata('{"\\ud83c":1}'),
  'NUL in the text': withText('"a\\u0000b"'),
  'NUL in metadata': withMetadata('{"a":{"b":"\\u0000"}}'),
  'NUL in a metadata key': withMetadata('{"a\\u0000":1}'),
}

const misfits: Readonly<Record<string, string>> = {
  null: 'null',
  'a list': '[]',
  'a list of bodies': `[${good}]`,
  'a string': '"text"',
  'a string that holds JSON': JSON.stringify(good),
  'a number': '1',
  'an empty object': '{}',
  'a version as a string': withVersion('"1"'),
  'a version of 1.5': withVersion('1.5'),
  'a version just above 1': withVersion('1.0000000000000002'),
  'a version below 0': withVersion('-1'),
  'a version past 2^53': withVersion('9007199254740992'),
  'a huge version': withVersion('1e300'),
  'a version past every double': withVersion('1e999'),
  'a version that JavaScript rounds to 1': withVersion('1.00000000000000001'),
  'a version that JavaScript rounds to 0': withVersion('1e-400'),
  'a version of true': withVersion('true'),
  'a version of null': withVersion('null'),
  'text as a number': withText('7'),
  'text as a list': withText('["a"]'),
  'metadata as a list': withMetadata('[]'),
  'metadata of null': withMetadata('null'),
  'metadata as a string': withMetadata('"{}"'),
}

const wrongTypes: Readonly<Record<string, readonly string[]>> = {
  'no content type': [],
  'plain text': ['Content-Type: text/plain'],
  'a form': ['Content-Type: application/x-www-form-urlencoded'],
  'a multipart form': ['Content-Type: multipart/form-data; boundary=x'],
  'another JSON type': ['Content-Type: application/vnd.api+json'],
  'a type that starts as JSON': ['Content-Type: application/jsonlines'],
  'another charset': ['Content-Type: application/json; charset=utf-16'],
  'an empty content type': ['Content-Type: '],
  'a compressed body': ['Content-Type: application/json', 'Content-Encoding: gzip'],
}

describe('a bad body', () => {
  let home: Listening
  let before: string
  beforeAll(async () => {
    home = await openListening(embedded)
    before = await home.state()
  })
  afterAll(() => home.close())

  const head = () => [`Authorization: Bearer ${home.born.token}`]
  const json = () => [...head(), 'Content-Type: application/json']

  const post = (body: string | Buffer, headers = json()) =>
    send(
      home.port,
      request(
        `POST ${memoryPath} HTTP/1.1`,
        [...headers, `Content-Length: ${Buffer.byteLength(body)}`],
        body,
      ),
    )

  const postChunked = (body: string | Buffer, size = 7) =>
    send(
      home.port,
      request(
        `POST ${memoryPath} HTTP/1.1`,
        [...json(), 'Transfer-Encoding: chunked'],
        chunked(Buffer.from(body), size),
      ),
    )

  const unchanged = async () => {
    expect(await home.state()).toBe(before)
    expect(home.service.logged.filter((line) => line.includes('"failed"'))).toEqual([])
  }

  test.each([
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON ; charset="UTF-8"',
  ])('the good body that the bad ones are made of is saved as %s', async (type) => {
    const { token } = await home.service.birth()
    const body = good.replace('"expectedVersion":1', '"expectedVersion":0')
    const headers = [`Authorization: Bearer ${token}`, `Content-Type: ${type}`]
    expect((await post(body, headers)).body.memory).toMatchObject({ text: 'changed', version: 1 })
    before = await home.state()
  })

  test.each(Object.entries(malformed))('%s is refused as malformed JSON', async (_, body) => {
    const refused = await post(body)
    expectProblem(refused, 'malformed_json')
    expect(pointersOf(refused)).not.toEqual([])
    if (Buffer.byteLength(body) < 1_000) expectProblem(await postChunked(body), 'malformed_json')
    await unchanged()
  })

  test('a body cut at any byte is refused', async () => {
    for (let length = 0; length < good.length; length++) {
      expectProblem(await post(good.slice(0, length)), 'malformed_json')
    }
    await unchanged()
  })

  test.each(Object.entries(misfits))('%s is refused with a pointer', async (_, body) => {
    const refused = await post(body)
    expectProblem(refused, 'invalid_body')
    expect(refused.body.errors).not.toHaveLength(0)
    await unchanged()
  })

  test.each(Object.entries(wrongTypes))('%s is refused as no JSON', async (_, headers) => {
    const compressed = headers.length > 1
    const body = compressed ? gzipSync(good) : good
    expectProblem(await post(body, [...head(), ...headers]), 'wrong_media_type')
    await unchanged()
  })

  const large = Buffer.from(withText(JSON.stringify('x'.repeat(10_000_000))))
  const oversized: [string, string | Buffer, ErrorCode][] = [
    ['a text one byte over', withText(JSON.stringify('x'.repeat(16_385))), 'text_too_large'],
    ['a body one byte over', good + ' '.repeat(131_073 - good.length), 'body_too_large'],
    ['a body of 10 MB', large, 'body_too_large'],
    ['10 MB of brackets', '['.repeat(10_000_000), 'body_too_large'],
    ['10 MB of nothing', Buffer.alloc(10_000_000), 'body_too_large'],
  ]

  test.each(oversized)(
    '%s is refused as too large, with and without Content-Length',
    proves('limits.413', 'errors.memory-write.413', 'write.text.bytes'),
    async (_, body, code) => {
      expectProblem(await post(body), code)
      expectProblem(await postChunked(body, 65_536), code)
      await unchanged()
    },
  )

  test('a body that is only announced is refused before it is sent', async () => {
    const headers = [...json(), 'Content-Length: 10000000000']
    const answer = await send(home.port, request(`POST ${memoryPath} HTTP/1.1`, headers))
    expectProblem(answer, 'body_too_large')
    await unchanged()
  })

  test('a client that waits for 100 Continue is told either way', async () => {
    const headers = [...json(), 'Expect: 100-continue', `Content-Length: ${good.length}`]
    const bytes = request(`POST ${memoryPath} HTTP/1.1`, headers, good.replace('"kept"', '"kep~"'))
    expect((await exchange(home.port, bytes)).toString()).toMatch(/^HTTP\/1\.1 100 .*\r\n.* 400 /s)
    await unchanged()
  })

  test('a client that goes in mid-body stores nothing and is no failure of ours', async () => {
    const headers = [...json(), 'Content-Length: 1000']
    const bytes = request(`POST ${memoryPath} HTTP/1.1`, headers, good)
    await exchange(home.port, bytes, { end: true })
    const unfinished = request(`POST ${memoryPath} HTTP/1.1`, [
      ...json(),
      'Transfer-Encoding: chunked',
    ])
    const piece = Buffer.from(`${good.length.toString(16)}\r\n${good}\r\n`)
    await exchange(home.port, Buffer.concat([unfinished, piece]), { end: true })
    await unchanged()
  })

  test('an endpoint without a body does not read one', async () => {
    const { operatorToken } = home.born
    for (const [line, size] of [
      ['GET /api/agents/me HTTP/1.1', 10_000_000],
      ['GET /api/agents/preview HTTP/1.1', 10],
    ] as const) {
      const answer = await send(
        home.port,
        request(
          line,
          [`Authorization: Bearer ${operatorToken}`, `Content-Length: ${size}`],
          Buffer.alloc(size, '{'),
        ),
      )
      expect(answer.status).toBe(200)
    }
    await unchanged()
  })
})
