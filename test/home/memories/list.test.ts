/** GET /memories, /memory/versions and /events: pages, in order, and nothing missed between them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, inGroups, openService, type TestService } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'
import { DATE_TIME, type Kept, keep, opening } from './kept.ts'

const EXACT = '{"b":1.0,"2":-0,"1":1e400,"c":9007199254740993}'

interface Page {
  readonly memories: readonly { readonly key: string; readonly text?: string }[]
  readonly next: string | null
}

const keysOf = ({ memories }: Page): string[] => memories.map(({ key }) => key)

describe.each(engines)('lists on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const list = async ({ ask }: Kept, query = ''): Promise<Page> => {
    const { status, body } = await ask('GET', `/memories?${query}`)
    expect(status).toBe(200)
    return body as unknown as Page
  }

  test('what was deleted is listed page by page, and one call brings it back', async () => {
    const agent = await keep(service)
    for (const key of ['a', 'b', 'c']) {
      await agent.ask('POST', '/memory', { body: { key, text: key, expectedVersion: 0 } })
      await agent.ask('DELETE', `/memory?key=${key}&expectedVersion=1`)
    }
    const first = await list(agent, 'deleted=true&limit=2')
    const by = { as: 'agent', via: 'api' }
    const gone = {
      version: 2,
      lastVersion: 1,
      bytes: 1,
      deletedAt: expect.stringMatching(DATE_TIME),
      by,
    }
    expect(first).toEqual({
      memories: [
        { key: 'a', ...gone },
        { key: 'b', ...gone },
      ],
      next: 'b',
    })
    expect(await list(agent, 'deleted=true&limit=2&after=b')).toEqual({
      memories: [{ key: 'c', ...gone }],
      next: null,
    })
    const back = { key: 'b', version: 1, expectedVersion: 0 }
    expect(await agent.ask('POST', '/memory/restore', { body: back })).toMatchObject({
      status: 200,
    })
    expect(keysOf(await list(agent, 'deleted=true'))).toEqual(['a', 'c'])
    const refused = await agent.ask('GET', '/memories?deleted=true&order=changed')
    expectProblem(refused, 'invalid_query')
  })

  /** Every page to the end; `between` happens after each. */
  async function pagesOf(agent: Kept, query: string, between = async () => {}) {
    const pages: Page[] = []
    for (let after: string | null = ''; after !== null; ) {
      const page = await list(agent, after === '' ? query : `${query}&after=${after}`)
      pages.push(page)
      after = page.next
      await between()
    }
    return pages
  }

  test('a summary says what a memory says but for its text, digit for digit', async () => {
    const { put, ask } = await keep(service)
    const saved = (await put('plan', 0, 'Крок 1', EXACT)).body.memory as Record<string, unknown>
    const { text, metadata: _, ...facts } = saved
    const summaries = await ask('GET', '/memories')
    expect(summaries.body).toMatchObject({ memories: [{ ...facts, bytes: 10 }], next: null })
    expect(summaries.text).toContain(`"metadata":${EXACT}`)
    expect(summaries.text).not.toContain('Крок')
    const whole = await ask('GET', '/memories?view=whole')
    expect(whole.body).toMatchObject({ memories: [{ ...facts, bytes: 10, text }] })
    expect(whole.text).toContain(`"metadata":${EXACT}`)
  })

  test('an empty home has an empty list', async () => {
    expect(await list(await keep(service))).toEqual({ memories: [], next: null })
  })

  test('pages follow each other by key, or by the last change, newest first', async () => {
    const agent = await keep(service)
    for (const key of ['b', 'a.2', 'c', 'a.1', 'B']) await agent.put(key)
    await agent.put('b', 1)
    expect(keysOf(await list(agent))).toEqual(['B', 'a.1', 'a.2', 'b', 'c'])
    expect(keysOf(await list(agent, 'order=changed'))).toEqual(['b', 'B', 'a.1', 'c', 'a.2'])
    expect(keysOf(await list(agent, 'prefix=a.'))).toEqual(['a.1', 'a.2'])
    expect(keysOf(await list(agent, 'prefix=a&order=changed'))).toEqual(['a.1', 'a.2'])
    expect(keysOf(await list(agent, 'prefix=A'))).toEqual([])
    for (const order of ['key', 'changed']) {
      const pages = await pagesOf(agent, `order=${order}&limit=2`)
      expect(pages.map(({ memories }) => memories.length)).toEqual([2, 2, 1])
      expect(pages.flatMap(keysOf)).toEqual(keysOf(await list(agent, `order=${order}`)))
    }
    // Full, and nothing behind it.
    expect((await list(agent, 'limit=5')).next).toBeNull()
  })

  test('an underscore and a dot in a prefix mean themselves', async () => {
    const agent = await keep(service)
    for (const key of ['a_b', 'aXb', 'a.b']) await agent.put(key)
    expect(keysOf(await list(agent, 'prefix=a_'))).toEqual(['a_b'])
    expect(keysOf(await list(agent, 'prefix=a.'))).toEqual(['a.b'])
  })

  test.each(['key', 'changed'])(
    'while memories come, change and go, no other is missed or repeated, by %s',
    async (order) => {
      const agent = await keep(service)
      const kept = Array.from({ length: 30 }, (_, n) => `m${String(n).padStart(2, '0')}`)
      for (const key of [...kept, 'moving']) await agent.put(key)
      let n = 0
      const pages = await pagesOf(agent, `order=${order}&limit=7`, async () => {
        n++
        await agent.put(`a${n}`)
        await agent.put(`z${n}`)
        await agent.put('moving', n)
        await agent.ask('DELETE', `/memory?key=a${n}&expectedVersion=1`)
      })
      const seen = pages.flatMap(keysOf).filter((key) => kept.includes(key))
      expect(seen.toSorted()).toEqual(kept)
    },
  )

  test('a page ends before 256 KiB, and the next goes on where it ended', async () => {
    const agent = await keep(service)
    // Escaped, each is six times as long.
    const texts = ['\u0001'.repeat(16_384), 'x'.repeat(16_384), '"\n'.repeat(8_192)]
    const keys = Array.from({ length: 45 }, (_, n) => `k${String(n).padStart(2, '0')}`)
    const texted = (n: number) => texts[n % texts.length] ?? ''
    await inGroups(keys, (key, n) => agent.put(key, 0, texted(n)))
    for (const order of ['key', 'changed']) {
      const seen: string[] = []
      for (let after = ''; ; ) {
        const at = after === '' ? '' : `&after=${after}`
        const answer = await agent.ask('GET', `/memories?view=whole&limit=1000&order=${order}${at}`)
        expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(262_144)
        const { memories, next } = answer.body as unknown as Page
        expect(memories.length).toBeGreaterThan(next === null ? 0 : 1)
        for (const { key, text } of memories) expect(text).toBe(texted(keys.indexOf(key)))
        seen.push(...memories.map(({ key }) => key))
        if (next === null) break
        after = next
      }
      expect(seen).toHaveLength(keys.length)
      expect(seen.toSorted()).toEqual(keys)
    }
  })

  test('summaries with much metadata end before 256 KiB too', async () => {
    const agent = await keep(service)
    const metadata = `{"m":"${'\\u0001'.repeat(680)}"}`
    const keys = Array.from({ length: 100 }, (_, n) => `k${String(n).padStart(2, '0')}`)
    await inGroups(keys, (key) => agent.put(key, 0, 'x', metadata))
    const answer = await agent.ask('GET', '/memories')
    expect(Buffer.byteLength(answer.text)).toBeLessThanOrEqual(262_144)
    const pages = await pagesOf(agent, 'limit=1000')
    expect(pages.length).toBeGreaterThan(1)
    expect(pages.flatMap(keysOf)).toEqual(keys)
  })

  test('its ETag stays while nothing happens, and changes with what happens', async () => {
    const agent = await keep(service)
    const asked = async (etag?: string | null) => {
      const headers = etag ? { 'if-none-match': etag } : {}
      const { status, headers: given, text } = await agent.ask('GET', '/memories', { headers })
      return { status, etag: given.get('etag'), text }
    }
    const empty = await asked()
    expect((await asked(empty.etag)).status).toBe(304)
    await agent.put('a')
    const one = await asked(empty.etag)
    expect(one.status).toBe(200)
    expect(await asked(one.etag)).toEqual({ status: 304, etag: one.etag, text: '' })
    expect((await asked(`W/${one.etag}`)).status).toBe(304)
    await agent.ask('DELETE', '/memory?key=a&expectedVersion=1')
    const none = await asked(one.etag)
    expect([none.status, none.etag]).not.toContain(one.etag)
    expect(none.status).toBe(200)
  })

  test('versions are listed newest first, each with its author, page by page', async () => {
    const agent = await keep(service)
    const { ask, post, operatorToken } = agent
    await agent.put('plan', 0, 'ї')
    await ask('PATCH', '/memory', { body: { key: 'plan', text: 'ab', expectedVersion: 1 } })
    await post('/memory/append', { key: 'plan', text: 'c' })
    await ask('DELETE', '/memory?key=plan&expectedVersion=3', { token: operatorToken })
    await post('/memory/restore', { key: 'plan', version: 1, expectedVersion: 0 })
    const versions = async (query = '') =>
      (await ask('GET', `/memory/versions?key=plan${query}`)).body as {
        versions: Record<string, unknown>[]
        next: number | null
      }
    const by = { as: 'agent', via: 'api' }
    const createdAt = expect.stringMatching(DATE_TIME)
    const all = await versions()
    expect(all).toEqual({
      versions: [
        { version: 5, operation: 'restore', bytes: 2, by, createdAt },
        {
          version: 4,
          operation: 'delete',
          bytes: 0,
          by: { as: 'operator', via: 'api' },
          createdAt,
        },
        { version: 3, operation: 'append', bytes: 3, by, createdAt },
        { version: 2, operation: 'patch', bytes: 2, by, createdAt },
        { version: 1, operation: 'write', bytes: 2, by, createdAt },
      ],
      next: null,
    })
    const first = await versions('&limit=2')
    expect(first.versions).toEqual(all.versions.slice(0, 2))
    expect(first.next).toBe(4)
    const second = await versions(`&limit=3&before=${first.next}`)
    expect(second).toEqual({ versions: all.versions.slice(2), next: null })
    expectProblem(await ask('GET', '/memory/versions?key=absent'), 'memory_not_found')
    for (const [version, text] of [
      [1, 'ї'],
      [2, 'ab'],
      [3, 'abc'],
      [5, 'ї'],
    ] as const) {
      const answer = await agent.read(`key=plan&version=${version}`)
      expect(answer.body.memory).toMatchObject({ version, text })
      // Which version is current changes, so the answer is no longer that of the version alone.
      expect(answer.headers.get('etag')).toBeNull()
      expect(answer.body.currentVersion).toBe(5)
    }
    expectProblem(await agent.read('key=plan&version=4'), 'version_not_found')
    expectProblem(await agent.read('key=plan&version=6'), 'version_not_found')
    expectProblem(await agent.read('key=absent&version=1'), 'memory_not_found')
  })

  test('events are listed oldest first, and from each on', async () => {
    const agent = await keep(service)
    const { ask, post } = agent
    const link = (id: number) => ({ id, hash: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const empty = { events: [], next: null, previous: link(0) }
    expect((await ask('GET', '/events')).body).toEqual(empty)
    await agent.put('a')
    await agent.put('a', 1)
    await post('/batch', { operations: [{ rename: { from: 'a', to: 'b', expectedVersion: 2 } }] })
    await ask('DELETE', '/memory?key=b&expectedVersion=3')
    const by = { as: 'agent', via: 'api' }
    const createdAt = expect.stringMatching(DATE_TIME)
    const { events, next } = (await ask('GET', '/events')).body as {
      events: unknown[]
      next: unknown
    }
    const { hash } = link(0)
    const made = { by, createdAt, content: hash, hash }
    expect(events).toEqual([
      { id: 1, type: 'write', key: 'a', version: 1, ...made },
      { id: 2, type: 'write', key: 'a', version: 2, ...made },
      { id: 3, type: 'rename', key: 'b', from: 'a', version: 3, ...made },
      { id: 4, type: 'delete', key: 'b', version: 4, by, createdAt, hash },
    ])
    expect(next).toBeNull()
    const first = (await ask('GET', '/events?limit=3')).body
    expect(first).toEqual({ events: events.slice(0, 3), next: 3, previous: link(0) })
    const rest = (await ask('GET', '/events?limit=3&after=3')).body
    expect(rest).toEqual({ events: events.slice(3), next: null, previous: link(3) })
    const after = { events: [], next: null, previous: link(4) }
    expect((await ask('GET', '/events?after=4')).body).toEqual(after)
  })

  test('a parameter that is wrong or unknown is refused by its name', async () => {
    const { ask } = await keep(service)
    const queries: Readonly<Record<string, readonly string[]>> = {
      '/memories?limit=0': ['?limit'],
      '/memories?limit=1001': ['?limit'],
      '/memories?limit=x': ['?limit'],
      '/memories?limit=': ['?limit'],
      '/memories?order=size': ['?order'],
      '/memories?view=all': ['?view'],
      '/memories?prefix=a/b': ['?prefix'],
      '/memories?order=changed&after=a': ['?after'],
      '/memories?order=key&after=a/b': ['?after'],
      '/memories?after=': ['?after'],
      '/memories?page=2': ['?page'],
      '/memory/versions': ['?key'],
      '/memory/versions?key=a&before=0': ['?before'],
      '/memory/versions?key=a&after=1': ['?after'],
      '/memory?key=a&version=0': ['?version'],
      '/memory?key=a&version=1.5': ['?version'],
      '/events?after=-1': ['?after'],
      '/events?limit=1001': ['?limit'],
      '/events?before=1': ['?before'],
    }
    for (const [path, pointers] of Object.entries(queries)) {
      const answer = await ask('GET', path)
      expectProblem(answer, 'invalid_query')
      expect(pointersOf(answer), path).toEqual(pointers)
    }
  })
})

describe.each(engines)('erasing on $name', (engine) => {
  test('is the operator’s: versions go, their numbers stay', async () => {
    await using agent = await opening(engine, { CONTROLS_PER_MINUTE: '0' })
    const { put, post, ask, read, operatorToken: token } = agent
    for (const version of [0, 1, 2, 3]) await put('plan', version, `Step ${version + 1}`)
    const erase = (versions: unknown, key = 'plan') =>
      ask('POST', '/memory/erase', { body: { key, versions }, token })
    expectProblem(
      await post('/memory/erase', { key: 'plan', versions: 'all' }),
      'insufficient_scope',
    )
    expectProblem(await erase([4]), 'version_current')
    expect((await erase([2, 9])).body).toEqual({ erased: { key: 'plan', versions: [2] } })
    expectProblem(await read('key=plan&version=2'), 'version_gone')
    expectProblem(
      await post('/memory/restore', { key: 'plan', version: 2, expectedVersion: 4 }),
      'version_gone',
    )
    expect((await erase('history')).body).toEqual({ erased: { key: 'plan', versions: [1, 3] } })
    expect((await read('key=plan')).body.memory).toMatchObject({ text: 'Step 4', version: 4 })
    expect((await erase('all')).body).toMatchObject({ erased: { key: 'plan' } })
    expectProblem(await read('key=plan'), 'memory_not_found')
    expectProblem(await erase('all', 'never'), 'memory_not_found')
    const late = await post('/memory', { key: 'plan', text: 'x', expectedVersion: 4 })
    expectProblem(late, 'version_conflict')
    expect(late.body.currentVersion).toBe(0)
    const { memory } = (await put('plan')).body as { memory: { version: number } }
    expect(memory.version).toBeGreaterThan(4)
  })

  test('of a list that is none is refused in words', async () => {
    await using agent = await opening(engine, { CONTROLS_PER_MINUTE: '0' })
    for (const versions of ['some', [], [0], [1.5], ['1'], null, Array(1_001).fill(1)]) {
      const body = { key: 'plan', versions }
      const answer = await agent.ask('POST', '/memory/erase', { body, token: agent.operatorToken })
      expectProblem(answer, 'invalid_body')
      const [fault] = answer.body.errors as { pointer: string; message: string }[]
      expect(fault?.pointer).toMatch(/^\/versions/)
      expect(fault?.message).toMatch(/^must be /)
    }
  })
})
