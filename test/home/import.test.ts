/** What is imported, over HTTP: exports come back, broken and foreign files are refused at their place. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyCharacter } from '../any-character.ts'
import { embedded, engines, openService, type TestService, write } from '../harness.ts'

const path = '/api/agents/me/import'
const exportPath = '/api/agents/me/export'

const ID = '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e'
const AT = '2020-11-21T10:00:00.000Z'

const memory = (key: string, more: object = {}) => ({
  ...{ id: ID, key, text: 'a text', metadata: {}, version: 3, createdAt: AT, updatedAt: AT },
  ...more,
})

const kept = (key: string, version: number, more: object = {}) => ({
  ...{ key, id: ID, version, operation: 'write', by: null, createdAt: AT, updatedAt: AT },
  ...more,
})

const file = (memories: readonly unknown[], history?: readonly unknown[], more: object = {}) =>
  JSON.stringify({
    format: 'service-home-v1',
    agent: { name: 'Atlas' },
    exportedAt: AT,
    memoryCount: memories.length,
    memories,
    ...(history && { history }),
    ...more,
  })

const unlimited = { CONTROLS_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0' }

/** What differs from home to home: who, when, the salts, and the events. */
const without = (exported: string): string =>
  exported
    .replace(/"agent":\{.*?\},"exportedAt":"[^"]*"/s, '"agent":{}')
    .replaceAll(/,"salt":"[0-9a-f]{64}"/g, '')
    .replace(/,"previous":\{"id":\d+,"hash":"[0-9a-f]{64}"\},"events":\[.*\]\}$/s, '}')

const textOf = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 40 })
  .map((text) => text.replaceAll('\0', ' '))

describe.each(engines)('import on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, {
      ...unlimited,
      BIRTHS_PER_HOUR_PER_ADDRESS: '0',
      BIRTHS_PER_HOUR: '0',
    })
  })
  afterAll(() => service.close())

  const born = async () => {
    const { token, operatorToken } = await service.birth()
    return { token, operator: operatorToken }
  }

  const send = (operator: string, sent: string, query = '') =>
    service.call('POST', path + query, { token: operator, body: sent })

  const exported = async (token: string, query = '?history=true') =>
    (await service.call('GET', exportPath + query, { token })).text

  test('every time of RFC 3339 is taken, and a byte order mark before the file', async () => {
    const { operator, token } = await born()
    const times = {
      createdAt: '2020-11-21t12:00:00.123456789+02:00',
      updatedAt: '2020-12-31T23:59:60z',
    }
    const body = `\uFEFF \n${file([memory('a', times)], [], { exportedAt: '2021-01-01 00:00:00.5Z' })}`
    const headers = { 'content-type': 'application/json' }
    const answer = await service.call('POST', path, { token: operator, headers, body })
    expect(answer.body).toMatchObject({ imported: 1 })
    const read = await service.call('GET', '/api/agents/me/memory?key=a', { token })
    expect(read.body.memory).toMatchObject({
      createdAt: '2020-11-21T10:00:00.123Z',
      updatedAt: '2020-12-31T23:59:59.999Z',
    })
    for (const wrong of [`\uFEFF\uFEFF${file([])}`, ` \uFEFF${file([])}`]) {
      const refused = await service.call('POST', path, { token: operator, headers, body: wrong })
      expect(refused.body).toMatchObject({ code: 'malformed_json' })
    }
  })

  test('an export with its history comes back as it was, whatever it holds', async () => {
    const change = fc.record({
      key: fc.constantFrom('a', 'b', 'c.d'),
      text: textOf,
      gone: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
        const mine = await born()
        for (const { key, text, gone } of changes) {
          const found = await service.call('GET', `/api/agents/me/memory?key=${key}`, mine)
          const expectedVersion =
            (found.body.memory as { version?: number } | undefined)?.version ?? 0
          await write(service, mine.token, key, text, expectedVersion)
          const query = `key=${key}&expectedVersion=${expectedVersion + 1}`
          if (gone) await service.call('DELETE', `/api/agents/me/memory?${query}`, mine)
        }
        const left = await exported(mine.token)
        const other = await born()
        expect((await send(other.operator, left)).status).toBe(200)
        expect(without(await exported(other.token))).toBe(without(left))
      }),
      { numRuns: 15 },
    )
  })

  test('one without a history comes back too, its texts and metadata to the letter', async () => {
    const { token, operator } = await born()
    const sent = file([memory('a', { metadata: 1 }), memory('b')]).replace(
      '"metadata":1',
      '"metadata": {"n": 1.50, "2": 1e400, "1": -0}',
    )
    const answer = await send(operator, sent)
    expect([answer.status, answer.body]).toEqual([200, { imported: 2, skipped: 0, conflicts: [] }])
    const plain = await exported(token, '')
    expect(plain).toContain('"metadata":{"n":1.50,"2":1e400,"1":-0},"version":3,"createdAt"')
    const { body } = await service.call('GET', '/api/agents/me/memory/versions?key=a', { token })
    expect(body.versions).toMatchObject([
      { version: 3, operation: 'import', by: { as: 'operator' } },
    ])
    const log = await service.call('GET', '/api/agents/me/events', { token })
    expect(log.body.events).toMatchObject([
      { type: 'begin_import' },
      { type: 'import', key: 'a', version: 3 },
      { type: 'import', key: 'b' },
      { type: 'end_import' },
      { type: 'export' },
    ])
  })

  test('a home at the highest version that is taken goes on, and its export comes back', async () => {
    const ahead = new Date(Date.now() + 80_000_000).toISOString()
    const times = { createdAt: ahead, updatedAt: ahead }
    for (const version of [1e12, 5e11 + 1, 5e11]) {
      const { token, operator } = await born()
      const sent = file(
        [memory('a', { version, ...times })],
        [
          kept('a', version - 1, { text: 'before', metadata: {} }),
          kept('a', version, times),
          kept('b', version, { operation: 'delete', ...times }),
        ],
      )
      expect((await send(operator, sent)).status).toBe(200)
      const found = await service.call('GET', '/api/agents/me/memory?key=a', { token })
      const { version: current } = found.body.memory as { version: number }
      expect(current).toBe(version > 5e11 ? 1 : version)
      expect((await write(service, token, 'a', 'later', current)).status).toBe(200)
      for (const query of ['', '?history=true']) {
        const { operator: other, token: reader } = await born()
        expect(await send(other, await exported(token, query))).toMatchObject({ status: 200 })
        const back = await service.call('GET', '/api/agents/me/memory?key=a', { token: reader })
        expect(back.body.memory).toMatchObject({ text: 'later' })
        const last = (back.body.memory as { version: number }).version
        expect((await write(service, reader, 'a', 'last', last)).status).toBe(200)
      }
    }
  })

  test('memories that are there are named, and left, or replaced; a dry run changes nothing', async () => {
    const { token, operator } = await born()
    await write(service, token, 'a', 'mine', 0)
    const sent = file([memory('a'), memory('b')])
    const refused = await send(operator, sent)
    expect([refused.status, refused.body.code]).toEqual([409, 'import_conflict'])
    expect(refused.body.conflicts).toEqual(['a'])
    const told = { imported: 2, skipped: 0, conflicts: ['a'] }
    const dry = await send(operator, sent, '?onConflict=replace&dryRun=true')
    expect(dry.body).toEqual(told)
    expect((await service.call('GET', '/api/agents/me', { token })).body.memoryCount).toBe(1)
    expect((await send(operator, sent, '?onConflict=replace')).body).toEqual(told)
    const found = await service.call('GET', '/api/agents/me/memory?key=a', { token })
    expect(found.body.memory).toMatchObject({ text: 'a text', version: 2 })
    const skipped = await send(operator, sent, '?onConflict=skip')
    expect(skipped.body).toEqual({ imported: 0, skipped: 2, conflicts: ['a', 'b'] })
  })
})

describe('a file that is no export', () => {
  let service: TestService
  let token = ''
  let operator = ''
  beforeAll(async () => {
    service = await openService(embedded, {
      ...unlimited,
      MEMORIES_PER_AGENT: '3',
      EXPORT_BYTES: '200000',
    })
    const born = await service.birth()
    token = born.token
    operator = born.operatorToken
  })
  afterAll(() => service.close())

  const send = (sent: string) => service.call('POST', path, { token: operator, body: sent })

  test.each<[what: string, sent: string, pointer: string]>([
    ['another format', file([], undefined, { format: 'other' }), '/format'],
    ['another count', file([memory('a')], undefined, { memoryCount: 2 }), '/memoryCount'],
    ['no memories', '{"format":"service-home-v1"}', '/agent'],
    ['an unknown member', file([], undefined, { more: 1 }), '/more'],
    [
      'an unknown member of the agent',
      file([], [], { agent: { name: 'x', more: 1 } }),
      '/agent/more',
    ],
    ['an unknown member of a memory', file([memory('a', { more: 1 })]), '/memories/0/more'],
    [
      'an unknown member of a version',
      file([], [kept('a', 1, { operation: 'delete', more: 1 })]),
      '/history/0/more',
    ],
    [
      'an unknown member of an author',
      file([], [kept('a', 1, { operation: 'delete', by: { as: 'agent', via: 'api', more: 1 } })]),
      '/history/0/by/more',
    ],
    [
      'a number of more than 400 characters',
      file([memory('a', { metadata: 1 })]).replace(
        '"metadata":1',
        `"metadata":{"n":[1${'0'.repeat(400)}]}`,
      ),
      '/memories/0/metadata/n/0',
    ],
    [
      'an exponent of more than 6 digits',
      file([], [kept('a', 1, { metadata: 1 })]).replace(
        '"metadata":1',
        '"metadata":{"n":1e-1000000}',
      ),
      '/history/0/metadata/n',
    ],
    ['memories that are no list', file([], undefined, { memories: {} }), '/memories'],
    ['a key of another form', file([memory('a'), memory('b c')]), '/memories/1/key'],
    ['an empty text', file([memory('a', { text: '' })]), '/memories/0/text'],
    [
      'a text that is too long',
      file([memory('a', { text: 'x'.repeat(16_385) })]),
      '/memories/0/text',
    ],
    [
      'metadata too long',
      file([memory('a', { metadata: { x: 'x'.repeat(4_096) } })]),
      '/memories/0/metadata',
    ],
    ['a key twice', file([memory('a'), memory('a')]), '/memories/1/key'],
    ['keys in disorder', file([memory('b'), memory('a')]), '/memories/1/key'],
    ['a version of 0', file([memory('a', { version: 0 })]), '/memories/0/version'],
    [
      'a time that is none',
      file([memory('a', { updatedAt: '2026-02-30' })]),
      '/memories/0/updatedAt',
    ],
    [
      'a time more than a day ahead',
      file([memory('a', { updatedAt: new Date(Date.now() + 90_000_000).toISOString() })]),
      '/memories/0/updatedAt',
    ],
    [
      'a time in a year of six digits',
      file([memory('a', { updatedAt: '+275760-09-13T00:00:00.000Z' })]),
      '/memories/0/updatedAt',
    ],
    [
      'a version of another time',
      file([], [kept('a', 1, { operation: 'delete', updatedAt: '9999-01-01T00:00:00.000Z' })]),
      '/history/0/updatedAt',
    ],
    [
      'an export of the future',
      file([], undefined, { exportedAt: '9999-01-01T00:00:00.000Z' }),
      '/exportedAt',
    ],
    [
      'a memory that was changed before it was made',
      file([memory('a', { createdAt: '2020-11-21T10:00:00.001Z' })]),
      '/memories/0/createdAt',
    ],
    [
      'a version from before its memory',
      file([], [kept('a', 1, { operation: 'delete', createdAt: '2020-11-21T10:00:00.001Z' })]),
      '/history/0/createdAt',
    ],
    ['a version above 10^12', file([memory('a', { version: 1e12 + 1 })]), '/memories/0/version'],
    ['half a surrogate pair', file([memory('a', { text: '\ud800' })]), '/memories/0/text'],
    [
      'a property twice',
      file([memory('a')]).replace('"key":"a"', '"key":"a","key":"a"'),
      '/memories/0/key',
    ],
    [
      'a version without text',
      file([], [kept('a', 1), kept('a', 2, { operation: 'delete' })]),
      '/history/0/text',
    ],
    [
      'a history that leads nowhere',
      file([], [kept('a', 1, { text: 'x', metadata: {} })]),
      '/history/0/operation',
    ],
    [
      'a history past its memory',
      file([memory('a')], [kept('a', 3), kept('a', 4)]),
      '/history/1/version',
    ],
    [
      'a history short of its memory',
      file([memory('a')], [kept('a', 1, { text: 'x', metadata: {} })]),
      '/history/0/version',
    ],
    [
      'a history of another memory',
      file([memory('a')], [kept('a', 3, { id: ID.replace('0', '1') })]),
      '/history/0/id',
    ],
    [
      'a version made before its memory',
      file([memory('a')], [kept('a', 3, { createdAt: '2020-11-20T10:00:00.000Z' })]),
      '/history/0/createdAt',
    ],
    [
      'a version changed after its memory',
      file([memory('a')], [kept('a', 3, { updatedAt: '2020-11-21T10:00:00.001Z' })]),
      '/history/0/updatedAt',
    ],
    [
      'the text of a memory twice',
      file([memory('a')], [kept('a', 3, { text: 'a text', metadata: {} })]),
      '/history/0/text',
    ],
    [
      'a delete with a text',
      file([], [kept('a', 1, { operation: 'delete', text: 'x', metadata: {} })]),
      '/history/0/text',
    ],
    ['no JSON in an element', file([memory('a')]).replace('"a text"', 'a text'), '/memories/0'],
    ['another value', '[1,2]', ''],
    ['half of it', file([memory('a')]).slice(0, -20), '/memories/0'],
    ['more behind it', `${file([])}{}`, ''],
    ['a comma too many', file([]).replace('[]', '[]],'), ''],
  ])('it is refused, with the place: %s', async (_, sent, pointer) => {
    const { status, body } = await send(sent)
    expect(status).toBe(400)
    expect((body.errors as { pointer: string }[]).map((fault) => fault.pointer)).toContain(pointer)
    const { body: profile } = await service.call('GET', '/api/agents/me', { token })
    expect(profile.memoryCount).toBe(0)
  })

  test('many faults are told, but not all', async () => {
    const { body } = await send(file(Array.from({ length: 100 }, () => ({}))))
    expect(body.errors).toHaveLength(20)
  })

  test('more than the limits is refused', async () => {
    const four = await send(file(['a', 'b', 'c', 'd'].map((key) => memory(key))))
    expect([four.status, four.body.code]).toEqual([429, 'memory_quota_reached'])
    const large = await send(file([], undefined, { agent: { name: 'x'.repeat(200_000) } }))
    expect([large.status, large.body.code]).toEqual([413, 'body_too_large'])
  })
})
