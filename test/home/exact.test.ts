/** Metadata come back as the very JSON that was sent, on the way in and on every way out. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Born, engines, memoryPath, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { proves } from '../requirements.ts'

const oddNumbers = [
  '9223372036854775808',
  '0.1234567890123456789',
  '1e-400',
  '1e400',
  '-0',
  '-0.0',
  '1.0',
  '1E5',
  '9007199254740993',
  '9007199254740993.0',
]

const exact = [
  ...oddNumbers.map((literal) => `{"n":[${literal}]}`),
  '{"2":1,"1":2}',
  '{"b":{"10":0,"9":{"1":[],"0":{}}},"a":1}',
  '{"a":"\\u00e9\\/\\ud83c\\udf31","\\u0062":" , : "}',
]

const body = (key: string, metadata: string, version = 0) =>
  `{"metadata" : ${metadata},"key":"${key}","text":"t","expectedVersion":${version}}`

describe.each(engines)('metadata on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
    born = await service.birth()
  })
  afterAll(() => service.close())

  const post = (json: string) => service.call('POST', memoryPath, { token: born.token, body: json })

  const get = (key: string) =>
    service.call('GET', `${memoryPath}?key=${key}`, { token: born.token })

  test.each(exact)(
    '%s come back as they were sent, when written, read and exported',
    proves('write.metadata.free-form'),
    async (metadata) => {
      born = await service.birth()
      const saved = await post(body('plan', metadata))
      expect(saved.text).toContain(`"metadata":${metadata},"version":1`)
      expect((await get('plan')).text).toBe(saved.text)
      const exported = await service.call('GET', '/api/agents/me/export', { token: born.token })
      expect(exported.text).toContain(`"metadata":${metadata},"version":1`)
    },
  )

  test('the space around tokens goes, and nothing else', async () => {
    const { text } = await post(body('spaced', '\n{ "b" : [ 1.50 , " x " ],\t"a" :{ } } '))
    expect(text).toContain('"metadata":{"b":[1.50," x "],"a":{}},')
  })

  test('whatever numbers and keys are sent, they come back, and a repeated write is known', async () => {
    const numbers = fc.stringMatching(/^-?(0|[1-9]\d{0,25})(\.\d{1,25})?([eE][+-]?\d{1,4})?$/)
    const names = fc.oneof(fc.nat(99).map(String), fc.stringMatching(/^[a-z]{1,3}$/))
    const members = fc.uniqueArray(fc.tuple(names, numbers), { selector: ([name]) => name })
    let count = 0
    await fc.assert(
      fc.asyncProperty(members, async (sent) => {
        const metadata = `{${sent.map(([name, number]) => `"${name}":${number}`).join(',')}}`
        const key = `any-${count++}`
        expect((await post(body(key, metadata))).text).toContain(`"metadata":${metadata},`)
        expect((await get(key)).text).toContain(`"metadata":${metadata},`)
        expect((await post(body(key, metadata))).body).toMatchObject({ sameContent: true })
      }),
      { numRuns: 50 },
    )
  })

  test.each([
    ['{"b":1.0,"a":[-0,"\\u0061"]}', '{ "a": [0, "a"], "b": 1e0 }', true],
    ['{"a":9007199254740993}', '{"a":9007199254740992}', false],
    ['{"a":1}', '{"a":"1"}', false],
    ['{"a":[1,2]}', '{"a":[2,1]}', false],
    ['{}', '{"a":null}', false],
  ])('%s and %s are the same content: %s', async (stored, sent, same) => {
    born = await service.birth()
    await post(body('plan', stored))
    const conflict = await post(body('plan', sent, 7))
    expectProblem(conflict, 'version_conflict')
    expect(conflict.body).toMatchObject({ sameContent: same })
  })

  test('escapes do not count against the limit where UTF-8 can do without them', async () => {
    const metadata = (letters: number) => `{"a":"${'\\u0457'.repeat(letters)}"}`
    expect((await post(body('escaped', metadata(2_044)))).status).toBe(200)
    expectProblem(await post(body('escaped', metadata(2_045), 1)), 'metadata_too_large')
  })

  test.each([
    ['9007199254740992', 'is too large: at most 9007199254740991'],
    ['9007199254740993', 'is too large: at most 9007199254740991'],
    ['9223372036854775808.0', 'is too large: at most 9007199254740991'],
    ['1e400', 'is too large: at most 9007199254740991'],
    ['-1', 'must be at least 0'],
    ['-9223372036854775809', 'must be at least 0'],
    ['1e-400', 'must be an integer'],
    ['1.0000000000000000001', 'must be an integer'],
    ['0.5', 'must be an integer'],
    ['"3"', 'must be an integer'],
  ])('an expected version of %s %s', async (version, message) => {
    const refused = await post(`{"key":"v","text":"t","expectedVersion":${version}}`)
    expectProblem(refused, 'invalid_body')
    expect(refused.body.errors).toEqual([{ pointer: '/expectedVersion', message }])
  })

  test.each(['0.0', '-0', '0e5', '0.00000000000000000000000'])(
    'an expected version of %s is 0',
    async (version) => {
      const key = `zero-${version}`
      const sent = `{"key":"${key}","text":"t","expectedVersion":${version}}`
      expect((await post(sent)).status).toBe(200)
    },
  )
})
