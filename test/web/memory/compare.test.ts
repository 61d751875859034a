/** What became of a memory between two of its versions, at the console. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService } from '../../harness.ts'
import { fieldsIn, insideOf, textIn } from '../markup.ts'
import { type Operator, openConsole } from '../operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '9999', READS_PER_MINUTE: '9999' })
  operator = await openConsole(service)
})
afterAll(() => service.close())

interface Told {
  readonly text: string
  readonly metadata?: object
}

let keys = 0

async function memory(...versions: Told[]): Promise<string> {
  const key = `k${++keys}`
  for (const [expectedVersion, { text, metadata = {} }] of versions.entries()) {
    const body = { key, text, metadata, expectedVersion }
    await service.call('POST', memoryPath, { token: operator.born.token, body })
  }
  return key
}

const compared = async (key: string, more = '') =>
  operator.get(`${operator.agent}/memory/compare?key=${key}${more}`)

const changes = (page: string): string[][] =>
  ['del', 'ins'].map((name) => insideOf(page, name).map(textIn))

test('the newest is compared with the one before, by whom and when', async () => {
  const key = await memory({ text: 'one\n' }, { text: 'two\n' }, { text: 'two\nthree\n' })
  const { status, text } = await compared(key)
  expect(status).toBe(200)
  expect(changes(text)).toEqual([[], ['three\n']])
  expect(fieldsIn(text)).toMatchObject({ from: '2', to: '3' })
  expect(insideOf(text, 'dd').map(textIn)).toEqual([
    'Written just now. The agent.',
    'Written just now. The agent.',
  ])
})

test('any two can be chosen, in any direction', async () => {
  const key = await memory({ text: 'one\n' }, { text: 'two\n' }, { text: 'three\n' })
  expect(changes((await compared(key, '&from=1&to=3')).text)).toEqual([['one\n'], ['three\n']])
  expect(changes((await compared(key, '&from=3&to=1')).text)).toEqual([['three\n'], ['one\n']])
  expect(changes((await compared(key, '&to=2')).text)).toEqual([['one\n'], ['two\n']])
})

test('what did not change is folded, and opens without a script', async () => {
  const lines = Array.from({ length: 30 }, (_, n) => `line ${n}\n`).join('')
  const key = await memory({ text: `a\n${lines}` }, { text: `b\n${lines}` })
  const { text } = await compared(key)
  expect(insideOf(text, 'summary').map(textIn)).toEqual(['27 lines unchanged'])
  expect(insideOf(text, 'details').join()).toContain('line 29\n')
})

test('an empty line after a change is not lost: a <pre> drops its first line feed', async () => {
  const key = await memory({ text: 'a\n\nb\n' }, { text: 'A\n\nb\n' })
  expect((await compared(key)).text).toContain('<pre dir="auto">\n\nb\n</pre>')
})

test('metadata are compared member by member, digits and all', async () => {
  const key = await memory(
    { text: 'same', metadata: { a: 1, gone: true, kept: [1] } },
    { text: 'same', metadata: { a: 2, kept: [1], new: '<x>' } },
  )
  const { text } = await compared(key)
  expect(text).toContain('The text did not change.')
  const rows = insideOf(insideOf(text, 'tbody').join(), 'tr').map((row) =>
    [...insideOf(row, 'th'), ...insideOf(row, 'td')].map(textIn),
  )
  expect(rows).toEqual([
    ['a', '1', '2'],
    ['gone', 'true', 'nothing'],
    ['new', 'nothing', '"<x>"'],
  ])
})

test('an earlier one is brought back from here with one button', async () => {
  const key = await memory({ text: 'one' }, { text: 'two' })
  const form = insideOf((await compared(key)).text, 'form').find((each) => each.includes('Bring'))
  const sent = fieldsIn(form ?? '')
  expect(sent).toEqual({ key, version: '1', expectedVersion: '2' })
  expect((await operator.post(`${operator.agent}/memory/restore`, sent)).status).toBe(303)
  expect(await operator.stored(key)).toMatchObject({ text: 'one', version: 3 })
})

test('the only version has nothing to be compared with', async () => {
  const { status, text } = await compared(await memory({ text: 'one' }))
  expect([status, text.includes('No other version of it is kept')]).toEqual([200, true])
})

test('what was deleted is compared as it was', async () => {
  const key = await memory({ text: 'one' }, { text: 'two' })
  await operator.post(`${operator.agent}/memory/delete`, { key, expectedVersion: '2' })
  expect(changes((await compared(key)).text)).toEqual([['one'], ['two']])
})

test.each([
  ['&from=9', 404],
  ['&to=0', 400],
  ['&to=x', 400],
])('there is no page for %s: %i', async (more, status) => {
  expect((await compared(await memory({ text: 'one' }), more)).status).toBe(status)
})
