/** What became of a memory between two of its versions, at the console. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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

const LINE = expect.stringMatching(/^The agent wrote \d+ \w{3} \d{4}, \d\d:\d\d UTC$/)

test('the newest is compared with the one before, by whom and when', async () => {
  const key = await memory({ text: 'one\n' }, { text: 'two\n' }, { text: 'two\nthree\n' })
  const { status, text } = await compared(key)
  expect(status).toBe(200)
  expect(changes(text)).toEqual([[], ['three\n']])
  expect(fieldsIn(text)).toMatchObject({ from: '2', to: '3' })
  expect(insideOf(text, 'dd').map(textIn)).toEqual([LINE, LINE])
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

test('an earlier one is restored from here with one button', async () => {
  const key = await memory({ text: 'one' }, { text: 'two' })
  const form = insideOf((await compared(key)).text, 'form').find((each) => each.includes('Restore'))
  const sent = fieldsIn(form ?? '')
  expect(sent).toEqual({ key, version: '1', expectedVersion: '2' })
  expect((await operator.post(`${operator.agent}/memory/restore`, sent)).status).toBe(303)
  expect(await operator.stored(key)).toMatchObject({ text: 'one', version: 3 })
})

test('the first version is new as a whole', async () => {
  const { status, text } = await compared(await memory({ text: 'one' }))
  expect([
    status,
    text.includes('No earlier version is kept, so all of it is shown as new.'),
  ]).toEqual([200, true])
  expect(changes(text)).toEqual([[], ['one']])
})

test('each change leads to the one before and to the next', async () => {
  const key = await memory({ text: 'one' }, { text: 'two' }, { text: 'three' })
  const steps = async (to: number) => {
    const { text } = await compared(key, `&to=${to}`)
    return [...text.matchAll(/ rel="(prev|next)" href="[^"]*&amp;to=(\d)"/g)].map(
      ([, ...each]) => each,
    )
  }
  expect(await steps(1)).toEqual([['next', '2']])
  expect(await steps(2)).toEqual([
    ['prev', '1'],
    ['next', '3'],
  ])
  expect(await steps(3)).toEqual([['prev', '2']])
})

describe('versions beyond those that a page lists', () => {
  /** Of each version its number is the text. */
  const long = (count: number) =>
    memory(...Array.from({ length: count }, (_, n) => ({ text: `${n + 1}\n` })))
  const choices = (page: string): string[] =>
    insideOf(insideOf(page, 'select').at(0) ?? '', 'option').map(textIn)

  test.each([3, 5, 6, 24, 25])(
    'version %i of 25 is compared with the one before it',
    async (to) => {
      const { text } = await compared(await long(25), `&to=${to}`)
      expect(text).not.toContain('No earlier version is kept')
      expect(changes(text)).toEqual([[`${to - 1}\n`], [`${to}\n`]])
      expect(fieldsIn(text)).toMatchObject({ from: `${to - 1}`, to: `${to}` })
      expect(insideOf(text, 'dd').map(textIn)).toEqual([LINE, LINE])
      expect(choices(text)).toHaveLength(25)
    },
  )

  test('the first has none before it', async () => {
    const { text } = await compared(await long(25), '&to=1')
    expect(text).toContain('No earlier version is kept')
  })

  test('one whose neighbour is a delete is compared with the text before that', async () => {
    const key = await memory({ text: 'one\n' })
    const token = operator.born.token
    const gone = await service.call('DELETE', `${memoryPath}?key=${key}&expectedVersion=1`, {
      token,
    })
    expect(gone.status).toBe(200)
    for (let version = 0; version < 23; version++) {
      const expectedVersion = version === 0 ? 0 : version + 2
      const body = { key, text: `${version}\n`, expectedVersion }
      expect((await service.call('POST', memoryPath, { token, body })).status).toBe(200)
    }
    const { text } = await compared(key, '&to=3')
    expect(changes(text)).toEqual([['one\n'], ['0\n']])
  })

  test('each of many is there to be chosen, with its date and author', async () => {
    const beyond = await openService(embedded, {
      WRITES_PER_MINUTE: '0',
      VERSIONS_PER_MEMORY: '0',
    })
    const other = await openConsole(beyond)
    const { token } = other.born
    for (let expectedVersion = 0; expectedVersion < 130; expectedVersion++) {
      const body = { key: 'k', text: `${expectedVersion + 1}\n`, expectedVersion }
      await beyond.call('POST', memoryPath, { token, body })
    }
    const { text } = await other.get(`${other.agent}/memory/compare?key=k&from=2&to=5`)
    expect(changes(text)).toEqual([['2\n'], ['5\n']])
    const { day, time } = { day: /^\d+ \w+ \d{4}$/, time: /^\d\d:\d\d UTC$/ }
    for (const [at, choice] of choices(text).entries()) {
      const [name, when = '', author] = choice.split(' · ')
      expect([name, author]).toEqual([`Version ${130 - at}`, 'The agent'])
      expect(when.split(', ')).toEqual([expect.stringMatching(day), expect.stringMatching(time)])
    }
    expect(choices(text)).toHaveLength(130)
    await beyond.close()
  })
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
