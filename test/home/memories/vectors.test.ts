/** Vectors over HTTP: in which forms they come, what is refused, and what a search answers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  type Born,
  embedded,
  openService,
  type TestService,
  write,
} from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'

const base64 = (...numbers: number[]) =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64')

interface Hit {
  readonly key: string
  readonly matched: readonly string[]
  readonly similarity?: number
  readonly text?: string
}

describe('vectors', () => {
  let service: TestService
  let agent: Born
  beforeAll(async () => {
    service = await openService(embedded, { BIRTHS_PER_HOUR_PER_ADDRESS: '0' })
  })
  afterAll(() => service.close())

  const post = (path: string, body: unknown, token = agent.token) =>
    service.call('POST', `/api/agents/me/memories/${path}`, { token, body })

  const store = (key: string, vector: unknown, version = 1) =>
    post('vectors', { model: 'm', vectors: [{ key, version, vector }] })

  const search = async (body: object): Promise<readonly Hit[]> => {
    const answer = await post('search', body)
    expect(answer.status).toBe(200)
    return answer.body.memories as Hit[]
  }

  const messageOf = (answer: Answer, pointer: string) => {
    expectProblem(answer, 'invalid_body')
    const errors = answer.body.errors as { pointer: string; message: string }[]
    expect(errors.map((error) => error.pointer)).toEqual([pointer])
    return errors[0]?.message
  }

  async function born(...keys: string[]): Promise<void> {
    agent = await service.birth()
    for (const key of keys) await write(service, agent.token, key, `about ${key}`)
  }

  test.each([
    ['a list', [0.6, 0.8]],
    ['a list of another length', [6, 8]],
    ['whole numbers and exponents', [3, 4]],
    ['Base64', base64(0.6, 0.8)],
    ['Base64 without padding', base64(0.6, 0.8).replace(/=+$/, '')],
    ['very large numbers', [3e300, 4e300]],
    ['very small numbers', [3e-300, 4e-300]],
  ])('come as %s, and only their direction counts', async (_, vector) => {
    await born('a')
    expect((await store('a', vector)).body).toEqual({ stored: 1, stale: [] })
    const [hit] = await search({ model: 'm', vector: [2, 0] })
    expect(hit).toMatchObject({ key: 'a', matched: [], text: 'about a' })
    expect(hit?.similarity).toBeCloseTo(0.6, 6)
    const [same] = await search({ model: 'm', vector })
    expect(same?.similarity).toBeCloseTo(1, 6)
  })

  test('numbers with more digits than JavaScript keeps are taken as numbers', async () => {
    await born('a')
    const numbers = '[0.60000000000000000001, 8.0000000000000000000e-1]'
    const answer = await service.call('POST', '/api/agents/me/memories/vectors', {
      token: agent.token,
      headers: { 'content-type': 'application/json' },
      body: `{"model":"m","vectors":[{"key":"a","version":1,"vector":${numbers}}]}`,
    })
    expect(answer.body).toEqual({ stored: 1, stale: [] })
    expect((await search({ model: 'm', vector: [1, 0] }))[0]?.similarity).toBeCloseTo(0.6, 6)
  })

  test.each([
    [[], 'must have 1 to 4096 numbers'],
    ['', 'must have 1 to 4096 numbers'],
    [[0, 0], 'must have a number other than 0'],
    [[1, '2'], 'must be numbers only: the one at 1 is not'],
    [[1, null], 'must be numbers only: the one at 1 is not'],
    [base64(1, Number.NaN), 'must have finite numbers only'],
    [base64(1, Number.POSITIVE_INFINITY), 'must have finite numbers only'],
    ['AAAA', 'must be Base64 of 32-bit floats in little-endian order'],
    ['no base 64', 'must be Base64 of 32-bit floats in little-endian order'],
    [7, 'must be a list of numbers, or Base64 of 32-bit floats in little-endian order'],
  ])('%j is none', async (vector, message) => {
    await born('a')
    expect(messageOf(await store('a', vector), '/vectors/0/vector')).toBe(message)
    expect(messageOf(await post('search', { model: 'm', vector }), '/vector')).toBe(message)
  })

  test('have as many numbers as may be, and no more', async () => {
    await born('a')
    for (const form of [(all: number[]) => all, (all: number[]) => base64(...all)]) {
      const numbers = Array<number>(4_096).fill(1)
      expect((await store('a', form(numbers))).body).toEqual({ stored: 1, stale: [] })
      const longer = await store('a', form([...numbers, 1]))
      expect(messageOf(longer, '/vectors/0/vector')).toBe('must have 1 to 4096 numbers')
    }
  })

  test('of a protected memory are refused, and named among others', async () => {
    await born('rule', 'a')
    await service.call('POST', '/api/agents/me/memory/protect', {
      token: agent.operatorToken,
      body: { key: 'rule', protected: true },
    })
    expectProblem(await store('rule', [1, 0]), 'memory_protected')
    const vectors = ['rule', 'a'].map((key) => ({ key, version: 1, vector: [1, 1] }))
    const answer = await post('vectors', { model: 'm', vectors })
    expect(answer.body).toEqual({ stored: 1, stale: [], protected: ['rule'] })
    const byOperator = await post('vectors', { model: 'm', vectors }, agent.operatorToken)
    expect(byOperator.body).toEqual({ stored: 2, stale: [] })
  })

  test('what is out of date is told with the current version, and the rest is stored', async () => {
    await born('a', 'b')
    await write(service, agent.token, 'b', 'later', 1)
    const vectors = ['a', 'b', 'c'].map((key) => ({ key, version: 1, vector: [1, 1] }))
    const answer = await post('vectors', { model: 'm', vectors })
    expect(answer.body).toEqual({
      stored: 1,
      stale: [
        { key: 'b', currentVersion: 2 },
        { key: 'c', currentVersion: 0 },
      ],
    })
    expect((await search({ model: 'm', vector: [1, 1] })).map(({ key }) => key)).toEqual(['a'])
  })

  test('all of a model have one length, and another is told what it is', async () => {
    await born('a', 'b')
    const two = [
      { key: 'a', version: 1, vector: [1, 0] },
      { key: 'b', version: 1, vector: [1, 0, 0] },
    ]
    const mixed = await post('vectors', { model: 'm', vectors: two })
    expect(messageOf(mixed, '/vectors')).toBe('must have the same number of numbers in each vector')
    await store('a', [1, 0])
    const expected =
      'must have 2 numbers, as the vectors of this model in this home have: name another model for another length'
    expect(messageOf(await store('b', [1, 0, 0]), '/vectors/0/vector')).toBe(expected)
    const asked = await post('search', { model: 'm', vector: [1, 0, 0] })
    expect(messageOf(asked, '/vector')).toBe(expected)
    expect(await search({ model: 'other', vector: [1, 0, 0] })).toEqual([])
  })

  test('words and a vector are fused, words alone are as by GET, and one of them must be there', async () => {
    await born('a', 'b', 'c')
    await store('b', [1, 0])
    await store('c', [0.9, 0.1])
    const both = await search({ q: 'a', model: 'm', vector: [1, 0] })
    expect(both.map(({ key, matched }) => [key, matched])).toEqual([
      ['a', ['a']],
      ['b', []],
      ['c', []],
    ])
    const words = await service.call('GET', '/api/agents/me/memories/search?q=about%20c', {
      token: agent.token,
    })
    expect((await post('search', { q: 'about c' })).body).toEqual(words.body)
    expect(messageOf(await post('search', {}), '')).toBe('must have q or vector')
    expect(messageOf(await post('search', { vector: [1] }), '/model')).toBe(
      'is missing: it must name the model of the vector',
    )
    expect(messageOf(await post('search', { q: 'a', model: 'm' }), '/vector')).toBe(
      'is missing: it must be there if model is',
    )
  })

  test('pages go on after the last, under a prefix only', async () => {
    await born('in.a', 'in.b', 'in.c', 'd')
    for (const [at, key] of ['in.a', 'in.b', 'in.c', 'd'].entries()) await store(key, [1, at])
    const ask = { model: 'm', vector: [1, 0], prefix: 'in.', limit: 2 }
    const first = await post('search', ask)
    expect(first.body).toMatchObject({ memories: [{ key: 'in.a' }, { key: 'in.b' }] })
    const second = await post('search', { ...ask, after: first.body.next })
    expect(second.body).toMatchObject({ memories: [{ key: 'in.c' }], next: null })
    const refused = await post('search', { ...ask, limit: 101, after: 'x' })
    expect(pointersOf(refused)).toEqual(['/limit', '/after'])
  })

  test('their bytes are shown with those of the home, and a request costs one write', async () => {
    await born('a', 'b')
    const read = async () =>
      (await service.call('GET', '/api/agents/me/context', { token: agent.token })).body as {
        limits: { bytes: { left: number }; writes: { left: number } }
      }
    const before = (await read()).limits
    const vectors = ['a', 'b'].map((key) => ({ key, version: 1, vector: [1, 2, 3] }))
    await post('vectors', { model: 'm', vectors })
    const after = (await read()).limits
    expect(before.bytes.left - after.bytes.left).toBe(2 * 3 * 4)
    expect(before.writes.left - after.writes.left).toBe(1)
  })

  test('are neither exported nor events nor versions', async () => {
    await born('a')
    const look = async () => {
      const paths = ['export?history=true', 'events?type=write', 'memory/versions?key=a']
      const answers = paths.map((path) =>
        service.call('GET', `/api/agents/me/${path}`, { token: agent.token }),
      )
      const bodies = (await Promise.all(answers)).map(({ body }) => body)
      return bodies.map(({ exportedAt: _, ...body }, i) =>
        i === 0 ? { ...body, events: [] } : body,
      )
    }
    const before = await look()
    await store('a', [1, 0])
    expect(await look()).toEqual(before)
  })
})
