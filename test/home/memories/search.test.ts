/** GET /api/agents/me/memories/search, as an agent asks it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService, write } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'

const path = '/api/agents/me/memories/search'

interface Hit {
  readonly key: string
  readonly snippet: string
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

  test('finds what holds every word, best first, with its metadata as it was sent', async () => {
    const body = '{"key":"plan","text":"tables","metadata":{"n":1.50},"expectedVersion":0}'
    await service.call('POST', memoryPath, { token, body })
    const { status, text, body: answer } = await search('q=TABLES%20plan')
    expect(status).toBe(200)
    expect((answer.memories as Hit[]).map(({ key }) => key)).toEqual(['plan', 'plan.current'])
    expect(text).toContain('"metadata":{"n":1.50}')
    expect(text).not.toContain('"text"')
    expect(answer.next).toBeNull()
  })

  test('finds scripts without spaces', async () => {
    const { body } = await search(`q=${encodeURIComponent('天気')}`)
    expect(body.memories).toMatchObject([{ key: 'weather', snippet: '東京の天気は晴れ' }])
  })

  test('goes on where its next says', async () => {
    const first = (await search('q=many')).body
    const after = encodeURIComponent(String(first.next))
    const second = (await search(`q=many&after=${after}`)).body
    const shown = [first, second].map(({ memories }) => (memories as Hit[]).map(({ key }) => key))
    expect(shown.map(({ length }) => length)).toEqual([20, 5])
    expect(new Set(shown.flat()).size).toBe(25)
    expect(second.next).toBeNull()
    expect((await search('q=many&limit=3')).body.memories).toHaveLength(3)
  })

  test.each([
    ['q', ''],
    ['q', 'q='],
    ['q', 'q=%20%0A'],
    ['q', `q=${'x'.repeat(201)}`],
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

  test('counts characters, not units, of what is sought', async () => {
    expect((await search(`q=${encodeURIComponent('𝒳'.repeat(200))}`)).status).toBe(200)
  })
})
