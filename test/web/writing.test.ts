/** Memories that the operator writes first, renames, downloads; and forms that arrive twice. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { indented } from '../../src/json/indent.ts'
import { withPin } from '../../src/web/console/memories/several.ts'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { articleIn, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole, sendForm } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0' })
  operator = await openConsole(service)
})
afterAll(() => service.close())

type Fields = Readonly<Record<string, string>>

let keys = 0
const fresh = (): string => `w${++keys}`

async function memory(text: string): Promise<string> {
  const key = fresh()
  await write(service, operator.born.token, key, text)
  return key
}

const send = (verb: string, fields: Fields) =>
  operator.post(`${operator.agent}/memory/${verb}`, fields)

const leadsTo = ({ status, headers }: Awaited<ReturnType<typeof send>>) => [
  status,
  headers.get('location'),
]

describe('a new memory', () => {
  test('is written under its key, with line feeds', async () => {
    const key = fresh()
    const form = fieldsIn(articleIn((await operator.get(`${operator.agent}/memory/new`)).text))
    expect(form).toEqual({ expectedVersion: '0', key: '', text: '', metadata: '' })
    const made = await send('new', { ...form, key, text: 'one\r\ntwo', metadata: '{"n":1.0}' })
    expect(leadsTo(made)).toEqual([303, `${operator.agent}/memory?key=${key}&saved`])
    expect(await operator.stored(key)).toMatchObject({ text: 'one\ntwo', version: 1 })
  })

  test('is written beside the list, and leads back to it', async () => {
    const key = await memory('a straw')
    const found = 'q=straw&order=key'
    const list = await operator.get(`${operator.agent}/memories?${found}`)
    const at = `${operator.agent}/memory/new?${found}`
    expect(linksIn(list.text)).toContain(at)
    const { text } = await operator.get(at)
    expect(insideOf(text, 'ul').some((each) => each.includes(`class="key">${key}<`))).toBe(true)
    const form = fieldsIn(articleIn(text))
    expect(form.list).toBe(found)
    expect(linksIn(articleIn(text))).toContain(`${operator.agent}/memories?${found}`)
    const refused = await send('new', { ...form, key: 'a b', text: 'x' })
    expect([refused.status, fieldsIn(articleIn(refused.text)).list]).toEqual([400, found])
    const made = await send('new', { ...form, key: fresh(), text: 'x' })
    expect(leadsTo(made)).toEqual([303, expect.stringMatching(/key=w\d+&q=straw&order=key&saved$/)])
  })

  test('under a key that is taken is refused beside the key, and not lost', async () => {
    const key = await memory('one')
    const { status, text } = await send('new', { key, text: 'two', metadata: '' })
    expect(status).toBe(409)
    expect(text).toContain('id="key-fault">This is the key of another memory.')
    // By which a script finds what was typed, whatever the key becomes.
    expect(text).toContain(`data-draft="${operator.born.agentId} "`)
    expect(fieldsIn(text)).toMatchObject({ key, text: 'two' })
    expect(await operator.stored(key)).toMatchObject({ text: 'one', version: 1 })
  })

  test.each([
    ['a key that is none', { key: 'a b', text: 'x' }],
    ['no text', { key: 'x1', text: '' }],
    ['metadata that are no object', { key: 'x1', text: 'x', metadata: '[]' }],
  ])('with %s is refused beside its field', async (_, fields) => {
    const { status, text } = await send('new', fields)
    expect([status, text.includes('class="fault"')]).toEqual([400, true])
  })
})

describe('a form that arrives twice', () => {
  test('creates once', async () => {
    const fields = { key: fresh(), text: 'one', metadata: '' }
    const [first, second] = [await send('new', fields), await send('new', fields)]
    expect(leadsTo(second)).toEqual(leadsTo(first))
    expect(await operator.stored(fields.key)).toMatchObject({ version: 1 })
  })

  test('saves once', async () => {
    const key = await memory('one')
    const fields = { key, text: 'two', metadata: '{}', expectedVersion: '1' }
    const [first, second] = [await send('edit', fields), await send('edit', fields)]
    expect(leadsTo(second)).toEqual(leadsTo(first))
    expect(await operator.stored(key)).toMatchObject({ text: 'two', version: 2 })
  })

  test('renames once', async () => {
    const fields = { key: await memory('one'), to: fresh(), expectedVersion: '1' }
    const [first, second] = [await send('rename', fields), await send('rename', fields)]
    expect(leadsTo(second)).toEqual(leadsTo(first))
    expect(await operator.stored(fields.to)).toMatchObject({ text: 'one', version: 2 })
  })
})

describe('a rename', () => {
  test('and every other way from a memory leads back to the list', async () => {
    const key = await memory('a hedge')
    await write(service, operator.born.token, key, 'the hedge', 1)
    const found = 'q=hedge&order=key'
    const back = `${operator.agent}/memory?key=${key}&${found}`
    const { text } = await operator.get(back)
    const ways = linksIn(articleIn(text)).filter((each) => /key=/.test(each))
    expect(ways.filter((each) => !each.includes(found) && !each.includes('/download'))).toEqual([])
    for (const below of ['rename', 'erase', 'compare']) {
      const page = await operator.get(`${operator.agent}/memory/${below}?key=${key}&${found}`)
      expect(linksIn(page.text)).toContain(back)
    }
    const restored = await send('restore', {
      ...{ key, version: '1', expectedVersion: '2', list: found },
    })
    expect(leadsTo(restored)).toEqual([303, `${back}&saved=1`])
    const renamed = await send('rename', { key, to: fresh(), expectedVersion: '3', list: found })
    expect(leadsTo(renamed)[1]).toContain(found)
  })

  test('asks for the new key, beginning with the present one', async () => {
    const key = await memory('one')
    const { text } = await operator.get(`${operator.agent}/memory/rename?key=${key}`)
    expect(fieldsIn(text)).toEqual({ key, to: key, expectedVersion: '1' })
  })

  test('leads to the memory under its new key, with its history', async () => {
    const [key, to] = [await memory('one'), fresh()]
    const renamed = await send('rename', { key, to, expectedVersion: '1' })
    expect(leadsTo(renamed)).toEqual([303, `${operator.agent}/memory?key=${to}`])
    expect(await operator.stored(key)).toBeUndefined()
    expect(await operator.stored(to)).toMatchObject({ text: 'one', version: 2 })
  })

  test('to a key that is taken, or too late, is refused in words', async () => {
    const [key, other] = [await memory('one'), await memory('two')]
    const taken = await send('rename', { key, to: other, expectedVersion: '1' })
    expect([
      taken.status,
      taken.text.includes('Nothing was renamed. The new key has a memory'),
    ]).toEqual([409, true])
    expect(fieldsIn(taken.text).to).toBe(other)
    const late = await send('rename', { key, to: fresh(), expectedVersion: '9' })
    expect([late.status, late.text.includes('was written in the meantime')]).toEqual([409, true])
    expect((await send('rename', { key: 'none', to: 'x', expectedVersion: '1' })).status).toBe(404)
    expect((await send('rename', { key, to: 'a b', expectedVersion: '1' })).status).toBe(400)
  })
})

describe('the editor', () => {
  test('stands beside the list on which the memory was found, and leads back to it', async () => {
    const [key, other] = [await memory('a needle here'), await memory('another needle')]
    await memory('hay')
    const found = `q=needle&order=key`
    const shown = await operator.get(`${operator.agent}/memory?key=${key}&${found}`)
    const at = `${operator.agent}/memory/edit?key=${key}&${found}`
    expect(linksIn(shown.text)).toContain(at)
    const { text } = await operator.get(at)
    const keysIn = [...text.matchAll(/class="key">([^<]*)<\/span>/g)].map(([, each]) => each)
    expect(keysIn.toSorted()).toEqual([key, other].toSorted())
    expect(text).toMatch(new RegExp(`aria-current="page"><span\\s+class="key">${key}<`))
    const form = fieldsIn(articleIn(text))
    const back = `${operator.agent}/memory?key=${key}&${found}`
    expect(linksIn(articleIn(text))).toContain(back)
    const saved = await send('edit', { ...form, text: 'other' })
    expect(leadsTo(saved)).toEqual([303, `${back}&saved`])
    const refused = await send('edit', { ...form, metadata: '[' })
    expect([refused.status, keysIn.every((each) => refused.text.includes(`>${each}<`))]).toEqual([
      ...[400, true],
    ])
    expect(refused.text).toContain(`data-from="${at.replaceAll('&', '&amp;')}"`)
  })
})

test.each([
  ['of the editor', (at: string) => `http://127.0.0.1:8787${at}`, (at: string) => at],
  ['of no page', () => '', () => '/console'],
  ['that is none', () => '//%', () => '/console'],
  ['of another place', () => 'http://127.0.0.1:8787/garden', () => '/console'],
])(
  'whoever was signed out meanwhile signs in again and is back: an address %s',
  async (_, from, to) => {
    const at = `${operator.agent}/memory/edit?key=k&q=a+b`
    const { status, text } = await sendForm(
      service,
      `${operator.agent}/memory/edit`,
      { key: 'k', text: 'x', metadata: '', expectedVersion: '1' },
      { referer: from(at) },
    )
    expect(status).toBe(403)
    expect(linksIn(text)).toContain(`/console/sign-in?next=${encodeURIComponent(to(at))}`)
  },
)

test('the text of one memory is downloaded byte for byte', async () => {
  const key = await memory('\r\none\n <b>слово</b>')
  const { text, headers } = await operator.get(`${operator.agent}/memory/download?key=${key}`)
  expect(text).toBe('\r\none\n <b>слово</b>')
  expect(headers.get('content-disposition')).toBe(`attachment; filename="${key}.txt"`)
  expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
})

test('an earlier version is downloaded as it was, and one that never was is not there', async () => {
  const key = await memory('one\n')
  await write(service, operator.born.token, key, 'two', 1)
  const at = `${operator.agent}/memory/download?key=${key}`
  expect((await operator.get(`${at}&version=1`)).text).toBe('one\n')
  expect((await operator.get(`${at}&version=2`)).text).toBe('two')
  expect((await operator.get(`${at}&version=3`)).status).toBe(404)
  expect((await operator.get(`${at}&version=x`)).status).toBe(400)
  const past = await operator.get(`${operator.agent}/memory?key=${key}&version=1`)
  expect(linksIn(past.text)).toContain(`${at}&version=1`)
})

describe('metadata', () => {
  test.each([
    ['[', 'must be one JSON object'],
    ['{"a":{"b":1e9999999}}', 'what is at "/a/b" has an exponent of more than 6 digits'],
    ['{"a":1,"a":2}', 'what is at "/a" is the same key twice'],
    [`{"${'k'.repeat(200)}":${'9'.repeat(401)}}`, 'a value in it is a number of more than 400'],
  ])('that cannot be kept are told by what is wrong with them: %j', async (metadata, message) => {
    const { status, text } = await send('new', { key: fresh(), text: 'x', metadata })
    expect(status).toBe(400)
    expect(textIn(text)).toContain(message)
  })

  const shownOf = async (metadata: string): Promise<string> => {
    const key = fresh()
    await send('new', { key, text: 'x', metadata })
    return (await operator.get(`${operator.agent}/memory?key=${key}`)).text
  }

  test('of single values are a table, digit for digit', async () => {
    const text = await shownOf('{"run":12.50,"who":"<b>Ada","done":false,"x":null}')
    const [table = ''] = insideOf(text, 'table').filter((each) => each.includes('Value'))
    expect([...insideOf(table, 'th'), ...insideOf(table, 'td')].map(textIn)).toEqual([
      ...['Name', 'Value', 'run', 'who', 'done', 'x'],
      ...['12.50', '<b>Ada', 'false', 'null'],
    ])
  })

  test('that are nested are JSON with its lines broken, as written', async () => {
    const text = await shownOf('{"b":[1e400,{"a":"},{"}],"empty":[],"none":{}}')
    expect(insideOf(text, 'pre').map(textIn)).toContain(
      '{\n  "b": [\n    1e400,\n    {\n      "a": "},{"\n    }\n  ],\n  "empty": [],\n  "none": {}\n}',
    )
  })

  test('with their lines broken say the same', () => {
    const value = { a: ['{', { b: '\\"[', c: [] }], d: {}, e: [[1, 2], []], f: '' }
    expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2))
  })

  test('take a pin and lose it, and keep the rest as it was written', () => {
    expect(withPin('{}', true)).toBe('{"pinned":true}')
    expect(withPin('{"a":1.0,"pinned":false,"b":[9007199254740993]}', true)).toBe(
      '{"a":1.0,"pinned":true,"b":[9007199254740993]}',
    )
    expect(withPin('{"a":1.0,"pinned":true}', false)).toBe('{"a":1.0}')
  })
})
