/** NUL, lone surrogates and bytes that are no UTF-8: refused wherever they come, before a store is asked. */
import { Buffer } from 'node:buffer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { openConsole } from '../web/operator.ts'
import { type Listening, openListening } from './listening.ts'
import { request, send } from './socket.ts'

const NO_TEXT = ['%00', 'a%00b', '%ff', '%C3', '%ed%a0%80', '%f4%90%80%80', '%C0%AF']

const QUERIES = [
  '/api/seeds?tag=',
  '/api/seeds?symbol=',
  '/api/garden?room=',
  '/api/garden?before=',
  '/api/discover?x=',
  '/api/agents/preview?key=',
  '/rooms/memory-garden?before=',
]

describe('what is no text', () => {
  let home: Listening
  beforeAll(async () => {
    home = await openListening(embedded)
  })
  afterAll(() => home.close())

  /** The same bytes in Latin-1, which `request` writes as they are. */
  const raw = (text: string | Buffer) => Buffer.from(text as string).toString('latin1')

  const get = (target: string | Buffer, header: string | Buffer = 'X-A: a') => {
    const head = request(`GET ${raw(target)} HTTP/1.1`, [raw(header)])
    return send(home.port, Buffer.from(head.toString(), 'latin1'))
  }

  test.each(QUERIES)('is refused in the query %s, by the name of the parameter', async (start) => {
    for (const encoded of NO_TEXT) {
      const refused = await get(start + encoded)
      expectProblem(refused, 'invalid_query')
      expect(pointersOf(refused)).toEqual([`?${/(\w+)=/.exec(start)?.[1]}`])
    }
  })

  test.each(['prefix', 'after', 'key'])('is refused in the console too: %s', async (name) => {
    const { agent, get } = await openConsole(home.service)
    for (const encoded of NO_TEXT) {
      const { status, text } = await get(`${agent}/memories?${name}=${encoded}`)
      expect([status, text]).toEqual([400, expect.stringContaining(`<li><bdi>${name}</bdi> `)])
    }
  })

  test('is refused in the name of a parameter', async () => {
    const refused = await get('/api/garden?%00=a&limit=1')
    expectProblem(refused, 'invalid_query')
    expect(pointersOf(refused)).toEqual(['?'])
  })

  test.each(NO_TEXT)('is refused in the path: %s', async (encoded) => {
    for (const path of ['/', '/api/agents/', '/problems/', '/rooms/', '/console/agents/']) {
      const refused = await get(path + encoded)
      expectProblem(refused, 'malformed_request')
      expect(refused.body.detail).toMatch(/^The path (is not UTF-8|holds NUL)/)
    }
  })

  test.each([
    [[0xff], 'malformed_request'],
    [[0xc3], 'malformed_request'],
    [[0xed, 0xa0, 0x80], 'malformed_request'],
  ] as const)('is refused as the bare bytes %j of an address or a header', async (bytes, code) => {
    const ending = (text: string) => Buffer.from([...Buffer.from(text), ...bytes])
    expectProblem(await get(ending('/api/seeds?tag=')), code)
    expectProblem(await get(ending('/api/')), code)
    const refused = await get('/api/resonance', ending('User-Agent: '))
    expectProblem(refused, code)
    expect(refused.body.detail).toContain('The header user-agent is not UTF-8')
  })

  test('UTF-8 is read where it is encoded, and in headers', async () => {
    const body = '{"text":"насіння","tags":["душа"]}'
    await home.service.call('POST', '/api/seeds', { body })
    const found = await get(`/api/seeds?tag=${encodeURIComponent('душа')}`, 'User-Agent: душа')
    expect(found.body.seeds).toHaveLength(1)
    expectProblem(await get('/api/seeds?tag=душа'), 'malformed_request')
  })

  test('a percent sign that encodes nothing stands for itself', async () => {
    expect((await get('/api/seeds?tag=100%')).status).toBe(200)
    expect((await get('/api/seeds?tag=%zz')).status).toBe(200)
  })
})

describe('a form that is no text', () => {
  let home: Listening
  beforeAll(async () => {
    home = await openListening(embedded)
  })
  afterAll(() => home.close())

  test.each([
    'text=%00',
    'text=a%00b',
    'te%00xt=a',
    'text=%ff',
    '%ff=a',
    'text=%ed%a0%80',
    Buffer.from([...Buffer.from('text='), 0xff]),
    Buffer.from([...Buffer.from('text='), 0xed, 0xa0, 0x80]),
  ])('is refused: %s', async (body) => {
    const headers = ['Content-Type: application/x-www-form-urlencoded']
    const length = `Content-Length: ${Buffer.byteLength(body)}`
    const line = 'POST /rooms/memory-garden HTTP/1.1'
    const refused = await send(home.port, request(line, [...headers, length], body))
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('malformed_form')
    expect((await home.service.call('GET', '/api/seeds')).body.seeds).toEqual([])
  })
})
