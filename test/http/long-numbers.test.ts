/** What is done with a number costs by its digits: nobody's number has more than are looked at. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type Born,
  embedded,
  freshKey,
  memoryPath,
  openService,
  type TestService,
} from '../harness.ts'
import { expectProblem } from '../problem.ts'

let service: TestService
let born: Born
beforeAll(async () => {
  service = await openService(embedded)
  born = await service.birth()
})
afterAll(() => service.close())

const write = (metadata: string, key = 'long', version = '0') =>
  `{"key":"${key}","text":"t","expectedVersion":${version},"metadata":${metadata}}`

const tooLong = 'is a number of more than 400 characters: send it as a string'
const tooFar = 'has an exponent of more than 6 digits: send it as a string'

const exported = (metadata: string) =>
  `{"memories":[{"id":"x","key":"k","text":"t","metadata":${metadata},"version":1}]}`

/** By where they are sent: a body with the number in it, and the pointer to it. */
const doors: readonly [string, (number: string) => string, string][] = [
  ['/api/agents/birth', (number) => `{"name":${number}}`, '/name'],
  [memoryPath, (number) => write(`{"a":[1,{"b":${number}}]}`), '/metadata/a/1/b'],
  [memoryPath, (number) => write('{}', 'long', number), '/expectedVersion'],
  [
    '/api/agents/me/batch',
    (number) => `{"operations":[{"write":${write(`{"a":${number}}`)}}]}`,
    '/operations/0/write/metadata/a',
  ],
  ['/api/agents/me/import', (number) => exported(`{"a":${number}}`), '/memories/0/metadata/a'],
  [
    '/mcp',
    (number) => `{"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"a":${number}}}}`,
    '/params/arguments/a',
  ],
  ['/api/garden', (number) => `{"text":"t","other":${number}}`, '/other'],
  ['/api/resonance', (number) => `[${number}]`, '/0'],
]

const refused: readonly [string, string, string][] = [
  ['an exponent of 60,000 digits', `1e-${'9'.repeat(60_000)}`, tooLong],
  ['an exponent of 7 digits', '1e-1000000', tooFar],
  ['an exponent of 7 digits that begin with a zero', '1E+0000001', tooFar],
  ['an integer of 401 digits', '1'.repeat(401), tooLong],
  ['a fraction of 401 characters', `-0.${'0'.repeat(398)}`, tooLong],
]

test.each(
  doors.flatMap(([path, body, pointer]) =>
    refused.map(([name, number, message]) => [name, path, body(number), pointer, message] as const),
  ),
)('%s is refused by %s', async (_, path, body, pointer, message) => {
  const isBirth = path.endsWith('birth')
  const answer = await service.call('POST', path, {
    ...(!isBirth && { token: born.operatorToken }),
    headers: { ...(isBirth && { 'idempotency-key': freshKey() }) },
    body,
  })
  const isImport = path.endsWith('import')
  expectProblem(answer, isImport ? 'invalid_body' : 'malformed_json')
  expect(answer.body.errors).toContainEqual({ pointer, message })
})

test.each([
  ['400 digits', '1'.repeat(400)],
  ['400 characters', `-0.${'0'.repeat(396)}1`],
  ['an exponent of 6 digits', '-1.5E+999999'],
  ['400 characters with an exponent', `${'9'.repeat(392)}e-999999`],
])('metadata keep a number of %s as it was sent', async (name, number) => {
  const { token } = born
  const sent = write(`{"a":${number}}`, name.replaceAll(' ', '-'))
  const saved = await service.call('POST', memoryPath, { token, body: sent })
  expect(saved.text).toContain(`"metadata":{"a":${number}},`)
  const again = await service.call('POST', memoryPath, { token, body: sent })
  expect(again.body).toMatchObject({ code: 'version_conflict', sameContent: true })
})

test('what looks like a long number in a string or a key is none', async () => {
  const digits = `1e${'9'.repeat(500)}`
  const sent = write(`{"${digits}":"${digits}"}`, 'string')
  const saved = await service.call('POST', memoryPath, { token: born.token, body: sent })
  expect(saved.status).toBe(200)
})
