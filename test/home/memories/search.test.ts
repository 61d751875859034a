/** GET /api/agents/me/memories/search, as an agent asks it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService, write } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'

const path = '/api/agents/me/memories/search'

interface Hit {
  readonly key: string
  readonly matched: readonly string[]
  readonly text?: string
  readonly snippet?: string
}

describe('a search', () => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    service = await openService(embedded)
    token = (await service.birth()).token
    await write(service, token, 'plan.current', 'Step 3 of 7: copy the tables.')
    await write(service, token, 'weather', '東京の天気は晴れ')
    for (let n = 0; n < 25; n++) await write(service, token, `many.${n}`, 'one of many')
  })
  afterAll(() => service.close())

  const search = (query: string) => service.call('GET', `${path}?${query}`, { token })

  test('answers a question, best first, with metadata as they were sent', async () => {
    const body = '{"key":"plan","text":"tables","metadata":{"n":1.50},"expectedVersion":0}'
    await service.call('POST', memoryPath, { token, body })
    const { status, text, body: answer } = await search('q=Which%20TABLE%20is%20in%20the%20plan%3F')
    expect(status).toBe(200)
    const hits = answer.memories as Hit[]
    expect(hits.map(({ key }) => key)).toEqual(['plan', 'plan.current'])
    expect(hits.map(({ matched }) => matched)).toEqual([
      ['tables', 'plan'],
      ['tables', 'plan'],
    ])
    expect(text).toContain('"metadata":{"n":1.50}')
    expect(hits[0]).toMatchObject({ text: 'tables' })
    expect(hits[0]).not.toHaveProperty('snippet')
    expect(answer.next).toBeNull()
  })

  test('finds what has every word, where all are asked for', async () => {
    const { body } = await search('q=copy%20many%20tables&match=all')
    expect(body.memories).toEqual([])
    expect((await search('q=copy%20tables&match=all')).body.memories).toMatchObject([
      { key: 'plan.current' },
    ])
  })

  test('finds scripts without spaces', async () => {
    const { body } = await search(`q=${encodeURIComponent('天気')}`)
    expect(body.memories).toMatchObject([{ key: 'weather', text: '東京の天気は晴れ' }])
  })

  test('costs a read for each MiB that is read anew for it', async () => {
    const large = await service.birth()
    for (let n = 0; n < 130; n++) {
      await write(service, large.token, `large.${n}`, `${n} ${'x'.repeat(16_380)}`)
    }
    const left = async () => {
      const { headers } = await service.call('GET', `${path}?q=7`, { token: large.token })
      return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    }
    const first = await left()
    // 2.03 MiB were read for the first, a memory that is shown for the second.
    expect(first - (await left())).toBe(1)
    expect(6_000 - first).toBe(3)
  })

  test('goes on where its next says', async () => {
    const first = (await search('q=many')).body
    const after = encodeURIComponent(String(first.next))
    const second = (await search(`q=many&after=${after}`)).body
    const shown = [first, second].map(({ memories }) => (memories as Hit[]).map(({ key }) => key))
    expect(shown.map(({ length }) => length)).toEqual([10, 10])
    expect(new Set(shown.flat()).size).toBe(20)
    expect((await search('q=many&limit=100')).body).toMatchObject({ next: null })
    expect((await search('q=many&limit=3')).body.memories).toHaveLength(3)
  })

  test.each([
    ['q', ''],
    ['q', 'q='],
    ['q', 'q=%20%0A'],
    ['q', `q=${'x'.repeat(16_385)}`],
    ['around', 'q=x&around=3'],
    ['around', 'q=x&around=-1'],
    ['match', 'q=x&match=some'],
    ['q', 'q=%00'],
    ['prefix', 'q=x&prefix=a%20b'],
    ['limit', 'q=x&limit=0'],
    ['limit', 'q=x&limit=101'],
    ['after', 'q=x&after=plan'],
    ['page', 'q=x&page=2'],
  ])('names the parameter that is wrong: %s of %j', async (parameter, query) => {
    const answer = await search(query)
    expectProblem(answer, 'invalid_query')
    expect(pointersOf(answer)).toEqual([`?${parameter}`])
  })

  const post = (body: object) => service.call('POST', path, { token, body })

  test('takes a question of 16 KiB, in bytes', async () => {
    const largest = `${'ї'.repeat(8_188)}. 東京`
    expect(Buffer.byteLength(largest)).toBe(16_384)
    const found = { memories: [{ key: 'weather' }], missing: [] }
    expect((await search(`q=${encodeURIComponent(largest)}`)).body).toMatchObject(found)
    expect((await post({ q: largest })).body).toMatchObject(found)
    const answer = await post({ q: `${largest}.` })
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual(['/q'])
    expect(JSON.stringify(answer.body)).toContain('must be at most 16384 bytes long')
  })

  test('says which words no memory has', async () => {
    const q = 'Which ZÈBRA is copying the weather?'
    const { body } = await search(`q=${encodeURIComponent(q)}`)
    expect(body).toMatchObject({ memories: [{}, {}], missing: ['zèbra'] })
    expect((await post({ q: 'zebra tables', match: 'all' })).body).toEqual({
      ...{ memories: [], next: null, missing: ['zebra'] },
    })
    expect((await search('q=tables')).body.missing).toEqual([])
  })

  test('gives what is right before and after each hit', async () => {
    for (const [n, text] of ['Which tables?', 'All zebras.', 'x'.repeat(500)].entries()) {
      await write(service, token, `talk.${n}`, text)
    }
    const { body } = await search('q=zebras&around=1')
    const [hit] = body.memories as [Hit & { before: object[]; after: object[] }]
    const updatedAt = expect.stringMatching(/^20.*Z$/)
    expect(hit.before).toEqual([{ key: 'talk.0', version: 1, updatedAt, text: 'Which tables?' }])
    const snippet = expect.stringMatching(/^x{100,}…$/)
    expect(hit.after).toEqual([{ key: 'talk.2', version: 1, updatedAt, snippet }])
    expect((await post({ q: 'zebras', around: 1 })).body.memories).toEqual([hit])
    const [{ before: _, after: __, ...alone }] = [hit]
    for (const query of ['q=zebras', 'q=zebras&around=0']) {
      expect((await search(query)).body.memories).toEqual([alone])
    }
    const within = (await search('q=zebras&around=2&prefix=talk.1')).body.memories
    expect(within).toMatchObject([{ key: 'talk.1', before: [], after: [] }])
  })
})
