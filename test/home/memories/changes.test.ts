/** PATCH, DELETE, append and restore: what each answers, and what it is refused for. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, openService, type TestService } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'
import { DATE_TIME, type Kept, keep, opening } from './kept.ts'

/** Digits and an order of keys that JavaScript's own numbers and objects would change. */
const EXACT = '{"b":1.0,"2":-0,"1":1e400,"c":9007199254740993,"ї":"\\u0457"}'

const asStored = EXACT

describe.each(engines)('changes on $name', (engine) => {
  let service: TestService
  let agent: Kept
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const fresh = async () => {
    agent = await keep(service)
    return agent
  }
  const patch = (body: unknown, headers = {}) => agent.ask('PATCH', '/memory', { body, headers })
  const remove = (query: string, headers = {}) =>
    agent.ask('DELETE', `/memory?${query}`, { headers })

  test('a patch of the text keeps the metadata, digit for digit, and the other way round', async () => {
    const { put, read } = await fresh()
    await put('plan', 0, 'Step 1', EXACT)
    const renewed = await patch({ key: 'plan', expectedVersion: 1, text: 'Step 2' })
    expect(renewed.status).toBe(200)
    expect(renewed.headers.get('etag')).toBe('"2"')
    expect(renewed.text).toContain(`"text":"Step 2","metadata":${asStored},"version":2`)
    const body = '{"key":"plan","expectedVersion":2,"metadata":{"2":1.50, "1":-0}}'
    const marked = await patch(body)
    expect(marked.text).toContain('"text":"Step 2","metadata":{"2":1.50,"1":-0},"version":3')
    expect((await read('key=plan')).text).toBe(marked.text)
    const { id, createdAt } = renewed.body.memory as Record<string, unknown>
    expect(marked.body.memory).toMatchObject({ id, createdAt })
  })

  test('a patch of nothing, of nothing that is there, and of too much are refused', async () => {
    const { put } = await fresh()
    await put('plan')
    const nothing = await patch({ key: 'plan', expectedVersion: 1 })
    expectProblem(nothing, 'invalid_body')
    expect(nothing.body.errors).toEqual([
      { pointer: '', message: 'must have a text, metadata or both' },
    ])
    const wrong = await patch({ key: 'a b', expectedVersion: '1', text: '', metadata: [], more: 1 })
    expectProblem(wrong, 'invalid_body')
    expect(pointersOf(wrong).toSorted()).toEqual(
      ['/expectedVersion', '/key', '/metadata', '/more', '/text'].toSorted(),
    )
    const absent = await patch({ key: 'absent', expectedVersion: 1, text: 'x' })
    expectProblem(absent, 'version_conflict')
    expect(absent.body).toMatchObject({ currentVersion: 0, sameContent: false })
    const sized = { key: 'plan', expectedVersion: 1 }
    expectProblem(await patch({ ...sized, text: 'x'.repeat(16_385) }), 'text_too_large')
    expectProblem(
      await patch({ ...sized, metadata: { m: 'x'.repeat(4_096) } }),
      'metadata_too_large',
    )
  })

  test('a patch that came before is told by sameContent', async () => {
    const { put } = await fresh()
    await put('plan', 0, 'Step 1', EXACT)
    const body = { key: 'plan', expectedVersion: 1, text: 'Step 2' }
    expect((await patch(body)).status).toBe(200)
    const again = await patch(body)
    expectProblem(again, 'version_conflict')
    expect(again.body).toMatchObject({ currentVersion: 2, sameContent: true })
    expect(again.headers.get('etag')).toBe('"2"')
  })

  test('an append adds to what is there, creates what is not, and stops at the limit', async () => {
    const { post, read } = await fresh()
    const append = (text: string, more = {}) =>
      post('/memory/append', { key: 'log', text, ...more })
    expect((await append('a')).body.memory).toMatchObject({ text: 'a', version: 1, metadata: {} })
    expect((await append('b')).body.memory).toMatchObject({ text: 'ab', version: 2 })
    expect((await append('c', { expectedVersion: 2 })).body.memory).toMatchObject({ text: 'abc' })
    expectProblem(await append('d', { expectedVersion: 2 }), 'version_conflict')
    expectProblem(await append('ї'.repeat(8_191)), 'text_too_large')
    expectProblem(await append('x'.repeat(16_385)), 'text_too_large')
    expect((await append(`${'ї'.repeat(8_190)}x`)).status).toBe(200)
    expectProblem(await append('x'), 'text_too_large')
    const wrong = await append('', { metadata: {} })
    expectProblem(wrong, 'invalid_body')
    expect(pointersOf(wrong).toSorted()).toEqual(['/metadata', '/text'])
    expect((await read('key=log')).body.memory).toMatchObject({ version: 4 })
    const created = await post('/memory/append', { key: 'new', text: 'x', expectedVersion: 0 })
    expect(created.body.memory).toMatchObject({ version: 1 })
  })

  test('an append begins a line where it is told to', async () => {
    const { post } = await fresh()
    const append = (text: string, line?: unknown) =>
      post('/memory/append', { key: 'log', text, line })
    for (const line of [undefined, true, false]) await append('a', line)
    expect((await append('b', true)).body.memory).toMatchObject({ text: 'a\naa\nb' })
    expect(pointersOf(await append('c', 'yes'))).toEqual(['/line'])
    const operations = [{ append: { key: 'log', text: 'c', line: true } }]
    expect((await post('/batch', { operations })).body.results).toMatchObject([
      { memory: { text: 'a\naa\nb\nc' } },
    ])
  })

  test('a memory that is full says how full it is, and a key to go on under', async () => {
    const { put, post } = await fresh()
    const append = (key: string, text = 'x') => post('/memory/append', { key, text, line: true })
    const nextOf = async (key: string, text?: string) => {
      const answer = await append(key, text)
      expectProblem(answer, 'text_too_large')
      return answer.body.nextKey
    }
    const full = 'x'.repeat(16_383)
    for (const key of ['log', 'day.28', 'y'.repeat(99)]) await put(key, 0, full)
    const refused = await append('log')
    expectProblem(refused, 'text_too_large')
    expect(refused.body).toMatchObject({ bytes: 16_383, maxBytes: 16_384, nextKey: 'log.2' })
    expect(refused.body.detail).toContain('16383 of the 16384')
    expect(refused.body.detail).toContain('log.2')
    expect(await nextOf('day.28')).toBe('day.28.2')
    expect(await nextOf('y'.repeat(99))).toBeUndefined()
    await put('log.2', 0, full)
    expect(await nextOf('log')).toBe('log.3')
    expect(await nextOf('log.2')).toBe('log.3')
    // What was deleted is free again.
    await put('log.3')
    await agent.ask('DELETE', '/memory?key=log.3&expectedVersion=1')
    expect(await nextOf('log')).toBe('log.3')
    const operations = [{ append: { key: 'log', text: 'xx' } }]
    const { body } = await post('/batch', { operations })
    expect(body.conflicts).toMatchObject([
      { code: 'text_too_large', bytes: 16_383, nextKey: 'log.3' },
    ])
    const edited = await post('/memory/edit', { key: 'day.28', old: full, new: 'x'.repeat(16_385) })
    expectProblem(edited, 'text_too_large')
    for (let n = 3; n < 12; n++) await put(`log.${n}`)
    expect(await nextOf('log', 'xx')).toBe('log.12')
    // What is too long by itself is no matter of the memory.
    expect((await append('log', 'x'.repeat(16_385))).body).not.toHaveProperty('bytes')
  })

  test('the key to go on under is found at the end of a long line too', async () => {
    const { put, post } = await fresh()
    const nextOf = async (key: string) =>
      (await post('/memory/append', { key, text: 'x' })).body.nextKey
    const putAll = async (from: number, to: number) => {
      const operations = Array.from({ length: to - from }, (_, n) => ({
        write: { key: `log.${from + n}`, text: 'x', expectedVersion: 0 },
      }))
      expect((await post('/batch', { operations })).status).toBe(200)
    }
    const full = 'x'.repeat(16_384)
    await put('log', 0, full)
    await put('log.2', 0, full)
    for (let n = 3; n < 903; n += 100) await putAll(n, n + 100)
    expect([await nextOf('log'), await nextOf('log.2')]).toEqual(['log.903', 'log.903'])
    await putAll(903, 1_000)
    expect([await nextOf('log'), await nextOf('log.2')]).toEqual([undefined, undefined])
  })

  test('a key with a prefix is told a key within it', async () => {
    const { put } = await fresh()
    const { body } = await service.call('POST', '/api/agents/me/keys/named', {
      token: agent.operatorToken,
      body: { name: 'in', access: 'write', prefix: 'log.' },
    })
    await put('log', 0, 'x')
    await put('log.2', 0, 'x'.repeat(16_384))
    const answer = await service.call('POST', '/api/agents/me/memory/append', {
      token: String(body.token),
      body: { key: 'log.2', text: 'x' },
    })
    expect(answer.body.nextKey).toBe('log.2.2')
  })

  test('appends at once are all there, each once', async () => {
    const { post, read } = await fresh()
    const letters = [...'abcdefghijklmnopqrstuvwxyz']
    const answers = await Promise.all(
      letters.map((text) => post('/memory/append', { key: 'log', text })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(letters.length)
    const { text, version } = (await read('key=log')).body.memory as Record<string, unknown>
    expect([[...String(text)].toSorted(), version]).toEqual([letters, letters.length])
  })

  test('a delete says what it deleted, and the next of it has nothing to delete', async () => {
    const { put } = await fresh()
    await put('plan')
    const deleted = await remove('key=plan&expectedVersion=1')
    expect(deleted.status).toBe(200)
    expect(deleted.body).toEqual({
      deleted: { key: 'plan', version: 2, deletedAt: expect.stringMatching(DATE_TIME) },
      note: expect.stringContaining('with version 1 and expectedVersion 0 restores it'),
    })
    const { deletedAt } = deleted.body.deleted as Record<string, unknown>
    const again = await remove('key=plan&expectedVersion=2')
    expectProblem(again, 'memory_not_found')
    expect(again.body).toMatchObject({
      deletedVersion: 2,
      deletedAt,
      detail: expect.stringContaining('restored'),
    })
    const never = await remove('key=never&expectedVersion=1')
    expectProblem(never, 'memory_not_found')
    expect(never.body).not.toHaveProperty('deletedVersion')
  })

  test('a read of what was deleted says by which version and when, and how to go on', async () => {
    const { put, read } = await fresh()
    await put('plan')
    const { deletedAt } = (await remove('key=plan&expectedVersion=1')).body.deleted as {
      deletedAt: string
    }
    const gone = await read('key=plan')
    expectProblem(gone, 'memory_not_found')
    expect(gone.body).toMatchObject({
      deletedVersion: 2,
      deletedAt,
      detail: expect.stringMatching(/was deleted.*versions/),
    })
    const never = await read('key=never')
    expectProblem(never, 'memory_not_found')
    expect(never.body).not.toHaveProperty('deletedVersion')
    expect(never.body.detail).not.toContain('deleted')
  })

  test('a delete of another version is a conflict', async () => {
    const { put, read } = await fresh()
    await put('plan')
    await put('plan', 1)
    for (const version of [0, 1, 3]) {
      const late = await remove(`key=plan&expectedVersion=${version}`)
      expectProblem(late, 'version_conflict')
      expect(late.body).toMatchObject({ currentVersion: 2 })
      expect(late.headers.get('etag')).toBe('"2"')
    }
    expect((await read('key=plan')).status).toBe(200)
  })

  test('a writer that comes after a delete is told of it, and what it can do', async () => {
    const { put, post } = await fresh()
    await put('plan')
    const { body } = await remove('key=plan&expectedVersion=1')
    const { deletedAt } = body.deleted as Record<string, unknown>
    const late = [
      await post('/memory', { key: 'plan', text: 'y', expectedVersion: 1 }),
      await patch({ key: 'plan', text: 'y', expectedVersion: 1 }),
      await post('/memory/append', { key: 'plan', text: 'y', expectedVersion: 1 }),
      await post('/memory/restore', { key: 'plan', version: 1, expectedVersion: 1 }),
    ]
    for (const answer of late) {
      expectProblem(answer, 'version_conflict')
      expect(answer.body).toMatchObject({ currentVersion: 0, deletedVersion: 2, deletedAt })
      expect(answer.body.detail).toMatch(/was deleted.*expectedVersion 0.*memory\/restore/)
      expect(answer.headers.has('etag')).toBe(false)
      expect(answer.body).not.toHaveProperty('updatedAt')
    }
    const never = await post('/memory', { key: 'never', text: 'y', expectedVersion: 1 })
    expect(never.body.detail).toMatch(/no memory has this key.*expectedVersion 0/)
    expect(never.body).not.toHaveProperty('deletedVersion')
  })

  test('what is created after a delete is another memory, above every earlier version', async () => {
    const { put } = await fresh()
    const first = (await put('plan')).body.memory as Record<string, unknown>
    await remove('key=plan&expectedVersion=1')
    const next = (await put('plan')).body.memory as Record<string, unknown>
    expect(next.version).toBe(3)
    expect(next.id).not.toBe(first.id)
  })

  test('a restore makes an earlier version the next one, metadata and all', async () => {
    const { put, post, read } = await fresh()
    const first = await put('plan', 0, 'Step 1', EXACT)
    await put('plan', 1, 'Step 2')
    const restore = (version: number, expectedVersion: number) =>
      post('/memory/restore', { key: 'plan', version, expectedVersion })
    const restored = await restore(1, 2)
    expect(restored.status).toBe(200)
    expect(restored.headers.get('etag')).toBe('"3"')
    expect(restored.text).toContain(`"text":"Step 1","metadata":${asStored},"version":3`)
    await remove('key=plan&expectedVersion=3')
    const back = await restore(2, 0)
    expect(back.body.memory).toMatchObject({ text: 'Step 2', metadata: {}, version: 5 })
    const { id, createdAt } = first.body.memory as Record<string, unknown>
    expect(back.body.memory).toMatchObject({ id, createdAt })
    expectProblem(await restore(1, 3), 'version_conflict')
    expectProblem(await restore(9, 5), 'version_not_found')
    // The delete has no text.
    expectProblem(await restore(4, 5), 'version_not_found')
    const wrong = await restore(0, -1)
    expectProblem(wrong, 'invalid_body')
    expect(pointersOf(wrong).toSorted()).toEqual(['/expectedVersion', '/version'])
    expect((await read('key=plan')).text).toBe(back.text)
  })

  test('If-Match must agree with what is expected', async () => {
    const { put, post } = await fresh()
    await put('plan')
    const other = { 'if-match': '"2"' }
    const body = { key: 'plan', expectedVersion: 1 }
    const asked = [
      await patch({ ...body, text: 'y' }, other),
      await remove('key=plan&expectedVersion=1', other),
      await post('/memory/append', { ...body, text: 'y' }, other),
      // Of no version in particular it says nothing that could be held to.
      await post('/memory/append', { key: 'plan', text: 'y' }, { 'if-match': '"1"' }),
      await post('/memory/restore', { ...body, version: 1 }, other),
    ]
    for (const answer of asked) expectProblem(answer, 'precondition_mismatch')
    const same = { 'if-match': '"1"' }
    expect((await patch({ ...body, text: 'y' }, same)).status).toBe(200)
    expect((await remove('key=plan&expectedVersion=2', { 'if-match': '*' })).status).toBe(200)
  })

  test('the query of a delete is as strict as a body', async () => {
    await fresh()
    const queries: Readonly<Record<string, string[]>> = {
      '': ['?key', '?expectedVersion'],
      'key=plan': ['?expectedVersion'],
      'key=plan&expectedVersion=x': ['?expectedVersion'],
      'key=plan&expectedVersion=-1': ['?expectedVersion'],
      'key=plan&expectedVersion=1.0': ['?expectedVersion'],
      'key=plan&expectedVersion=9007199254740992': ['?expectedVersion'],
      'key=a%2Fb&expectedVersion=1': ['?key'],
      'key=plan&expectedVersion=1&force=1': ['?force'],
    }
    for (const [query, pointers] of Object.entries(queries)) {
      const answer = await remove(query)
      expectProblem(answer, 'invalid_query')
      expect(pointersOf(answer), query).toEqual(pointers)
    }
  })

  test('operations of ours tell a wrong media type by 415 and too large a body by 413', async () => {
    const { ask } = await fresh()
    const paths = ['PATCH /memory', 'POST /memory/append', 'POST /memory/restore', 'POST /batch']
    for (const [method = '', path = ''] of paths.map((each) => each.split(' '))) {
      const headers = { 'content-type': 'text/plain' }
      expectProblem(await ask(method, path, { body: '{}', headers }), 'unsupported_media_type')
      const body = ' '.repeat(path === '/batch' ? 1_048_577 : 131_073)
      expectProblem(await ask(method, path, { body }), 'body_too_large')
    }
  })
})

describe('Prefer: return=minimal', () => {
  test.each(engines)(
    'leaves text and metadata out of what every write answers on $name',
    async (engine) => {
      await using agent = await opening(engine)
      const { post, ask } = agent
      const headers = { prefer: 'respond-async, Return=minimal; x=1' }
      const answers = [
        await post('/memory', { key: 'plan', text: 'x', expectedVersion: 0 }, headers),
        await post('/memory/append', { key: 'plan', text: 'x' }, headers),
        await ask('PATCH', '/memory', {
          body: { key: 'plan', expectedVersion: 2, text: 'y' },
          headers,
        }),
        await post('/memory/restore', { key: 'plan', version: 1, expectedVersion: 3 }, headers),
      ]
      for (const [at, answer] of answers.entries()) {
        expect(answer.status).toBe(200)
        expect(answer.headers.get('preference-applied')).toBe('return=minimal')
        expect(answer.headers.get('etag')).toBe(`"${at + 1}"`)
        expect(answer.body).toEqual({
          memory: {
            id: expect.any(String),
            key: 'plan',
            version: at + 1,
            createdAt: expect.stringMatching(DATE_TIME),
            updatedAt: expect.stringMatching(DATE_TIME),
          },
        })
      }
    },
  )

  test.each(['return=representation', 'minimal', 'return=minimalist', 'x="return=minimal"'])(
    '%s does not ask for it',
    async (prefer) => {
      const [engine] = engines
      if (!engine) throw new Error('no engine')
      await using agent = await opening(engine)
      const body = { key: 'plan', text: 'x', expectedVersion: 0 }
      const { headers, body: shown } = await agent.post('/memory', body, { prefer })
      expect(headers.has('preference-applied')).toBe(false)
      expect(shown.memory).toMatchObject({ text: 'x', metadata: {} })
    },
  )
})
