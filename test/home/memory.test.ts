import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, memoryPath, openService, type TestService, write } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'
import { proves } from '../requirements.ts'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe.each(engines)('memory on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const read = (token: string, key: string, headers = {}) =>
    service.call('GET', `${memoryPath}?key=${key}`, { token, headers })

  const save = (token: string, body: unknown, headers = {}) =>
    service.call('POST', memoryPath, { token, body, headers })

  test(
    'a write with expectedVersion 0 creates version 1, and a read gives it back',
    proves(
      'service.memories',
      'versions.create',
      'memory.shape',
      'memory.result',
      'memory.date-time',
      'write.metadata.default',
      'endpoint.memory-write',
      'endpoint.memory-read',
    ),
    async () => {
      const { token } = await service.birth()
      const saved = await write(service, token, 'plan', 'Крок 1 🌱')
      expect(saved.status).toBe(200)
      expect(saved.body).toEqual({
        memory: {
          id: expect.stringMatching(/^[0-9a-f-]{14}7[0-9a-f]{3}-[0-9a-f-]{17}$/),
          key: 'plan',
          text: 'Крок 1 🌱',
          metadata: {},
          version: 1,
          createdAt: expect.stringMatching(DATE_TIME),
          updatedAt: expect.stringMatching(DATE_TIME),
        },
      })
      expect((await read(token, 'plan')).text).toBe(saved.text)
    },
  )

  test('the id of a memory tells when it was created, by the service’s clock', async () => {
    const { token } = await service.birth()
    service.tick(3_600_000)
    const { body } = await write(service, token, 'plan', 'Step 1')
    const { id, createdAt } = body.memory as Record<string, string>
    const milliseconds = Number.parseInt(String(id).replace('-', '').slice(0, 12), 16)
    expect(new Date(milliseconds).toISOString()).toBe(createdAt)
  })

  test(
    'a write of the current version updates it, and versions rise by one',
    proves('versions.update', 'memory.version'),
    async () => {
      const { token } = await service.birth()
      const first = await write(service, token, 'plan', 'Step 1')
      service.tick(1_000)
      for (const version of [1, 2, 3]) {
        const saved = await write(service, token, 'plan', `Step ${version + 1}`, version)
        expect(saved.body.memory).toMatchObject({
          text: `Step ${version + 1}`,
          version: version + 1,
        })
      }
      const { body } = await read(token, 'plan')
      const { id, createdAt } = first.body.memory as Record<string, string>
      expect(body.memory).toMatchObject({ id, createdAt, version: 4 })
      expect(body.memory).not.toMatchObject({ updatedAt: createdAt })
    },
  )

  test(
    'a version that does not match is a conflict that tells the current one',
    proves('versions.conflict', 'errors.memory-write.409', 'memory.version'),
    async () => {
      const { token } = await service.birth()
      await write(service, token, 'plan', 'Step 1')
      const saved = await write(service, token, 'plan', 'Step 2', 1)
      for (const expectedVersion of [0, 1, 3, Number.MAX_SAFE_INTEGER]) {
        const refused = await write(service, token, 'plan', 'lost', expectedVersion)
        expectProblem(refused, 'version_conflict')
        const { updatedAt } = saved.body.memory as Record<string, string>
        expect(refused.body).toMatchObject({ currentVersion: 2, updatedAt, sameContent: false })
        expect(refused.body.detail).not.toContain('no memory has this key')
        expect(refused.headers.get('etag')).toBe('"2"')
      }
      expect((await read(token, 'plan')).text).toBe(saved.text)
    },
  )

  test('a conflict over nothing says version 0', proves('versions.conflict'), async () => {
    const { token } = await service.birth()
    const refused = await write(service, token, 'plan', 'x', 1)
    expectProblem(refused, 'version_conflict')
    expect(refused.body).toMatchObject({ currentVersion: 0, sameContent: false })
    expect(refused.body.detail).toContain('no memory has this key')
    expect(refused.body.detail).toContain('expectedVersion 0 to create it')
    expect(refused.body).not.toHaveProperty('updatedAt')
    expect(refused.headers.has('etag')).toBe(false)
  })

  test('a client whose answer was lost learns that its write landed', async () => {
    const { token } = await service.birth()
    const body = { key: 'plan', text: 'Step 1', metadata: { b: [1, null], a: '🌱' } }
    await save(token, { ...body, expectedVersion: 0 })
    const again = await save(token, { ...body, expectedVersion: 0 })
    expect(again.body).toMatchObject({ code: 'version_conflict', sameContent: true })
    const spaced = JSON.stringify({ ...body, expectedVersion: 0 }, null, 2)
    expect((await save(token, spaced)).body).toMatchObject({ sameContent: true })
    const other = await save(token, { ...body, metadata: { a: '🌱' }, expectedVersion: 0 })
    expect(other.body).toMatchObject({ sameContent: false })
  })

  test(
    'each write replaces text and metadata whole',
    proves('write.metadata.default'),
    async () => {
      const { token } = await service.birth()
      await save(token, { key: 'plan', text: 'a', metadata: { kept: true }, expectedVersion: 0 })
      const saved = await save(token, { key: 'plan', text: 'b', expectedVersion: 1 })
      expect(saved.body.memory).toMatchObject({ text: 'b', metadata: {} })
    },
  )

  test.each<Record<string, unknown>>([
    { constructor: 1, toString: 2, hasOwnProperty: 3, valueOf: null },
    { nested: { list: [[], {}, [{ deep: [true, false, null] }]] } },
    { '': 0, ' ': '', 'ключ 🌱': ['значення'], 'a.b/c~d': { $ref: '#' } },
    { numbers: [0, -1, 1.5, 1e21, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53 - 1] },
    { 'line\n\u2028\t"quoted" \\': '\u0001\u007f' },
  ])('metadata is free-form: %j', proves('write.metadata.free-form'), async (metadata) => {
    const { token } = await service.birth()
    const saved = await save(token, { key: 'plan', text: 'x', metadata, expectedVersion: 0 })
    expect(saved.status).toBe(200)
    const { body } = await read(token, 'plan')
    expect((body.memory as Record<string, unknown>).metadata).toEqual(metadata)
  })

  test(
    'a key that holds nothing is 404, and another agent’s memory is not there',
    proves('errors.memory-read.404'),
    async () => {
      const [mine, theirs] = [await service.birth(), await service.birth()]
      await write(service, theirs.token, 'plan', 'theirs')
      expectProblem(await read(mine.token, 'plan'), 'memory_not_found')
      expectProblem(await read(mine.operatorToken, 'plan'), 'memory_not_found')
      await write(service, mine.token, 'plan', 'mine')
      expect((await read(theirs.token, 'plan')).body.memory).toMatchObject({ text: 'theirs' })
    },
  )

  test(
    'either token reads and writes, and neither sees who wrote',
    proves('auth.either', 'auth.agent-key', 'auth.operator-key'),
    async () => {
      const { token, operatorToken } = await service.birth()
      await write(service, operatorToken, 'plan', 'by the operator')
      expect((await write(service, token, 'plan', 'by the agent', 1)).status).toBe(200)
      const found = await read(operatorToken, 'plan')
      expect(found.text).toBe((await read(token, 'plan')).text)
    },
  )

  test('answers carry the version as a strong ETag, and an equal one is 304', async () => {
    const { token } = await service.birth()
    expect((await write(service, token, 'plan', 'a')).headers.get('etag')).toBe('"1"')
    expect((await write(service, token, 'plan', 'b', 1)).headers.get('etag')).toBe('"2"')
    expect((await read(token, 'plan')).headers.get('etag')).toBe('"2"')
    for (const tag of ['"2"', '*', 'W/"2"', '"1", "2"']) {
      const unchanged = await read(token, 'plan', { 'if-none-match': tag })
      expect([unchanged.status, unchanged.text]).toEqual([304, ''])
      expect(unchanged.headers.get('etag')).toBe('"2"')
    }
    for (const tag of ['"1"', '2', '', '"W/2"']) {
      expect((await read(token, 'plan', { 'if-none-match': tag })).status).toBe(200)
    }
  })

  test('If-None-Match on a write is no precondition, and on nothing still 404', async () => {
    const { token } = await service.birth()
    expectProblem(await read(token, 'plan', { 'if-none-match': '*' }), 'memory_not_found')
    const body = { key: 'plan', text: 'a', expectedVersion: 0 }
    expect((await save(token, body, { 'if-none-match': '"1"' })).status).toBe(200)
  })

  test('If-Match beside expectedVersion must name the same version', async () => {
    const { token } = await service.birth()
    const body = { key: 'plan', text: 'a', expectedVersion: 0 }
    for (const tag of ['"1"', '*', '0', 'W/"0"', '']) {
      expectProblem(await save(token, body, { 'if-match': tag }), 'precondition_mismatch')
    }
    expectProblem(await read(token, 'plan'), 'memory_not_found')
    expect((await save(token, body, { 'if-match': '"0"' })).status).toBe(200)
    const update = { ...body, expectedVersion: 1 }
    expectProblem(await save(token, update, { 'if-match': '"2"' }), 'precondition_mismatch')
    expect((await save(token, update, { 'if-match': '"1"' })).status).toBe(200)
    const stale = await save(token, update, { 'if-match': '"1"' })
    expectProblem(stale, 'version_conflict')
  })

  test('If-Match may be * where something is, or name several versions', async () => {
    const { token } = await service.birth()
    await write(service, token, 'plan', 'a')
    const update = (expectedVersion: number, tags: string) =>
      save(token, { key: 'plan', text: 'b', expectedVersion }, { 'if-match': tags })
    expect((await update(1, '*')).status).toBe(200)
    expect((await update(2, '"7", "2"')).status).toBe(200)
    expectProblem(await update(3, '"7", "2"'), 'precondition_mismatch')
  })

  test('HEAD gives the headers of GET without its body', async () => {
    const { token } = await service.birth()
    await write(service, token, 'plan', 'a')
    const head = await service.call('HEAD', `${memoryPath}?key=plan`, { token })
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', '"1"'])
    expect((await service.call('HEAD', `${memoryPath}?key=none`, { token })).status).toBe(404)
  })

  test.each([
    ['', ['?key']],
    ['?key=', ['?key']],
    ['?key=a%20b', ['?key']],
    ['?key=%D0%BF', ['?key']],
    ['?key=a/b', ['?key']],
    ['?key=a%00', ['?key']],
    ['?key=a%0A', ['?key']],
    [`?key=${'a'.repeat(101)}`, ['?key']],
    ['?key=a&key=b', ['?key']],
    ['?key=a&key=a', ['?key']],
    ['?key=a&limit=1', ['?limit']],
    ['?Key=a', ['?key', '?Key']],
    ['?__proto__=a&key=a', ['?__proto__']],
  ])(
    'the query "%s" is refused',
    proves('endpoint.memory-read.key', 'errors.memory-read.400'),
    async (query, pointers) => {
      const { token } = await service.birth()
      const refused = await service.call('GET', memoryPath + query, { token })
      expectProblem(refused, 'invalid_query')
      expect(pointersOf(refused)).toEqual(pointers)
    },
  )

  test.each([
    ['key', ['', 'a b', 'ключ', 'a/b', 'a\n', '🌱', 7, null, ['a'], 'a'.repeat(101)]],
    ['text', ['', 7, null, true, ['a'], { a: 1 }]],
    ['metadata', [null, [], 'text', 7, true]],
    ['expectedVersion', ['3', '0', null, true, 1.5, -1, -0.5, [0], 2 ** 53]],
  ])(
    'a wrong %s is refused by its pointer, and nothing is written',
    proves(
      'write.key',
      'write.text.required',
      'write.expected-version.required',
      'write.expected-version.minimum',
      'errors.memory-write.400',
    ),
    async (field, values) => {
      const { token } = await service.birth()
      const good = { key: 'plan', text: 'x', metadata: {}, expectedVersion: 0 }
      for (const value of values) {
        const refused = await save(token, { ...good, [field]: value })
        expectProblem(refused, 'invalid_body')
        expect(pointersOf(refused)).toEqual([`/${field}`])
      }
      const { [field]: _, ...rest } = good as Record<string, unknown>
      if (field !== 'metadata') expect((await save(token, rest)).status).toBe(400)
      const { body } = await service.call('GET', '/api/agents/me', { token })
      expect(body.memoryCount).toBe(0)
    },
  )

  test(
    'a property that is not listed is refused and named',
    proves('write.no-other-properties'),
    async () => {
      const { token } = await service.birth()
      const body = { key: 'plan', text: 'x', expectedVersion: 0, version: 3, ttl: 60 }
      const refused = await save(token, body)
      expectProblem(refused, 'invalid_body')
      expect(pointersOf(refused)).toEqual(['/version', '/ttl'])
      expectProblem(await read(token, 'plan'), 'memory_not_found')
    },
  )

  test.each(['0.0', '0e5', '0E-2', '-0'])('an integer may be spelt %s', async (spelling) => {
    const { token } = await service.birth()
    const saved = await save(token, `{"key":"k","text":"x","expectedVersion":${spelling}}`)
    expect(saved.status).toBe(200)
  })

  test('the largest version is a number like any other', async () => {
    const { token } = await service.birth()
    const refused = await write(service, token, 'plan', 'x', Number.MAX_SAFE_INTEGER)
    expectProblem(refused, 'version_conflict')
  })
})
