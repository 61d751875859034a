/** An edit that came too late: merged where it fits, chosen part by part where it does not. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService } from '../harness.ts'
import { articleIn, escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, {
    WRITES_PER_MINUTE: '9999',
    READS_PER_MINUTE: '9999',
    VERSIONS_PER_MEMORY: '5',
  })
  operator = await openConsole(service)
})
afterAll(() => service.close())

type Fields = Readonly<Record<string, string>>

interface Told {
  readonly text: string
  readonly metadata?: object
}

let keys = 0

const write = (key: string, { text, metadata = {} }: Told, expectedVersion: number) =>
  service.call('POST', memoryPath, {
    token: operator.born.token,
    body: { key, text, metadata, expectedVersion },
  })

/** A memory of its own with these versions, as the agent wrote them. */
async function memory(...versions: Told[]): Promise<string> {
  const key = `k${++keys}`
  for (const [at, told] of versions.entries()) await write(key, told, at)
  return key
}

const edit = (key: string, text: string, metadata = '{}', expectedVersion = '1') =>
  operator.post(`${operator.agent}/memory/edit`, { key, text, metadata, expectedVersion })

const resolve = (fields: Fields) => operator.post(`${operator.agent}/memory/resolve`, fields)

/** The form of the page with what is chosen in it, as a browser sends it. */
const chosen = (page: string, choices: Fields): Fields => {
  const { 'part-0': _, 'part-1': __, ...carried } = fieldsIn(articleIn(page))
  return { ...carried, ...choices }
}

const legends = (page: string): string[] => insideOf(articleIn(page), 'legend').map(textIn)

const BASE = 'one\ntwo\nthree\nfour\nfive\n'

describe('what does not overlap', () => {
  test('is merged in the editor, metadata included, under the version that is stored', async () => {
    const key = await memory(
      { text: BASE, metadata: { a: 1, b: 1 } },
      { text: BASE.replace('one', 'ONE'), metadata: { a: 2, b: 1 } },
    )
    const { status, text } = await edit(key, BASE.replace('five', 'FIVE'), '{"a":1,"b":3}')
    expect(status).toBe(409)
    expect(text).toContain('Nothing overlaps. Check the result, then save it.')
    expect(fieldsIn(articleIn(text))).toEqual({
      key,
      text: 'ONE\ntwo\nthree\nfour\nFIVE\n',
      metadata: '{"a":2,"b":3}',
      expectedVersion: '2',
    })
    expect(insideOf(text, 'button')).toContain('Save over version 2')
    expect(insideOf(text, 'ins').map(textIn)).toEqual(['FIVE\n', '3'])
    expect(linksIn(text)).toContain(`${operator.agent}/memory?key=${key}`)
  })

  test('an edit of the text leaves the agent’s metadata as it wrote them', async () => {
    const key = await memory({ text: 'same' }, { text: 'same', metadata: { pinned: true } })
    const { text } = await edit(key, 'mine')
    expect(fieldsIn(articleIn(text))).toMatchObject({ text: 'mine', metadata: '{"pinned":true}' })
  })

  test('line ends as browsers send them are no difference', async () => {
    const key = await memory({ text: 'one\ntwo\n' }, { text: 'one\ntwo\n', metadata: { a: 1 } })
    const { text } = await edit(key, 'one\r\ntwo\r\nthree')
    expect(fieldsIn(articleIn(text)).text).toBe('one\ntwo\nthree')
  })
})

describe('what overlaps', () => {
  const conflict = async (metadata = '{}') => {
    const key = await memory(
      { text: BASE, metadata: { a: 1 } },
      { text: BASE.replace('three', 'the third of them'), metadata: { a: 2 } },
    )
    const page = await edit(key, BASE.replace('three', 'the last of them'), metadata)
    expect(page.status).toBe(409)
    return { key, page: page.text }
  }

  test('is shown side by side, with what differs marked, and as it was before', async () => {
    const { page } = await conflict('{"a":1}')
    expect(legends(page)).toEqual(['The difference'])
    expect(page).toContain('the <mark>third</mark> of them\n</pre>')
    expect(page).toContain('the <mark>last</mark> of them\n</pre>')
    expect(insideOf(page, 'details').map(textIn).join()).toContain('three\n')
    expect(page).toContain('Version 2 was written')
    expect(page).toContain('after version 1, which you started from')
    expect(page).toContain(`<title>Conflict in k${keys} · Atlas · Agent Home</title>`)
    expect(page).toMatch(/src="[^"]*\/later\.ts"/)
  })

  test('marks whole lines that have nothing in common, and none that both have', async () => {
    const key = await memory({ text: 'one\ntwo\nthree\n' }, { text: 'A\nsame\nB\n' })
    const { text } = await edit(key, 'C\nsame\nD\n')
    const sides = insideOf(text, 'pre')
      .slice(0, 2)
      .map((each) => each.trimStart())
    expect(sides).toEqual([
      '<mark>A\n</mark>same\n<mark>B\n</mark>',
      '<mark>C\n</mark>same\n<mark>D\n</mark>',
    ])
  })

  test.each([
    ['theirs', 'the third of them'],
    ['yours', 'the last of them'],
    ['both', 'the third of them\nthe last of them'],
    ['own', 'mine, by hand'],
  ])('is saved as chosen: %s', async (choice, line) => {
    const { key, page } = await conflict('{"a":1}')
    const sent = chosen(page, { 'part-0': choice, 'own-part-0': 'mine, by hand' })
    expect((await resolve(sent)).status).toBe(303)
    expect(await operator.stored(key)).toMatchObject({
      text: BASE.replace('three', line),
      metadata: { a: 2 },
      version: 3,
    })
  })

  test('of the metadata is chosen by member', async () => {
    const { key, page } = await conflict('{"a":3,"mine":1}')
    expect(legends(page)).toEqual(['The difference', 'Metadata: a'])
    const sent = chosen(page, { 'part-0': 'theirs', 'part-1': 'own', 'own-part-1': '1.50' })
    expect((await resolve(sent)).status).toBe(303)
    expect(await operator.stored(key)).toMatchObject({ metadata: { a: 1.5, mine: 1 } })
  })

  test('and is not chosen is asked again, with what was chosen kept', async () => {
    const { key, page } = await conflict('{"a":3}')
    const { status, text } = await resolve(
      chosen(page, { 'part-0': 'own', 'own-part-0': 'half <b>', 'part-1': '' }),
    )
    expect(status).toBe(400)
    expect(text).toContain('<p class="fault" id="part-1-fault">This must be chosen.</p>')
    expect(text).toMatch(/id="part-0-own"[^>]* checked/)
    expect(text).toContain(escaped('half <b>'))
    expect(await operator.stored(key)).toMatchObject({ version: 2 })
  })

  test('cannot be both values of a member', async () => {
    const { page } = await conflict('{"a":3}')
    const { status, text } = await resolve(chosen(page, { 'part-0': 'both', 'part-1': 'both' }))
    expect([status, text.includes('id="part-1-fault"')]).toEqual([400, true])
  })

  test('a value by hand that is no JSON is refused beside it', async () => {
    const { page } = await conflict('{"a":3}')
    const { status, text } = await resolve(
      chosen(page, { 'part-0': 'yours', 'part-1': 'own', 'own-part-1': 'no json' }),
    )
    expect(status).toBe(400)
    expect(text).toContain('This must be JSON: put a text in quotes.')
  })

  test('can be looked over as a whole before it is saved', async () => {
    const { key, page } = await conflict('{"a":1}')
    const { status, text } = await resolve(chosen(page, { 'part-0': 'both', next: 'edit' }))
    expect(status).toBe(200)
    expect(fieldsIn(articleIn(text))).toMatchObject({
      text: BASE.replace('three', 'the third of them\nthe last of them'),
      metadata: '{"a":2}',
      expectedVersion: '2',
    })
    expect(await operator.stored(key)).toMatchObject({ version: 2 })
  })

  test('a further conflict begins anew with what was chosen as yours', async () => {
    const { key, page } = await conflict('{"a":1}')
    const now = BASE.replace('three', 'the third of them').replace('five', 'FIVE')
    await write(key, { text: now, metadata: { a: 9 } }, 2)
    const { status, text } = await resolve(chosen(page, { 'part-0': 'yours' }))
    expect(status).toBe(409)
    expect(fieldsIn(articleIn(text))).toMatchObject({
      text: BASE.replace('three', 'the last of them').replace('five', 'FIVE'),
      metadata: '{"a":9}',
      expectedVersion: '3',
    })
    expect(await operator.stored(key)).toMatchObject({ version: 3 })
  })

  test('line ends of what is stored stay, and those of a choice are like them', async () => {
    const key = await memory({ text: 'a\r\nb\r\nc\r\n' }, { text: 'a\r\nB\r\nc\r\n' })
    const { text } = await edit(key, 'a\r\nbb\r\nc\r\n')
    await resolve(chosen(text, { 'part-0': 'both' }))
    expect(await operator.stored(key)).toMatchObject({ text: 'a\r\nB\r\nbb\r\nc\r\n' })
  })

  test('a text that gets too large is refused, and not lost', async () => {
    const large = (letter: string) => letter.repeat(9_000)
    const key = await memory({ text: 'was' }, { text: large('a') })
    const { text } = await edit(key, large('b'))
    const refused = await resolve(chosen(text, { 'part-0': 'both' }))
    expect(refused.status).toBe(413)
    expect(refused.text).toContain('role="alert"')
    expect(refused.text).toMatch(/id="part-0-both"[^>]* checked/)
    expect(fieldsIn(articleIn(refused.text)).text).toBe(large('b'))
  })
})

describe('the list beside it', () => {
  const found = 'q=needle&order=key'

  const late = async () => {
    const key = await memory({ text: 'a needle' }, { text: 'the needle' })
    const sent = { key, text: 'my needle', metadata: '{}', expectedVersion: '1', list: found }
    const page = await operator.post(`${operator.agent}/memory/edit`, sent)
    expect(page.status).toBe(409)
    return { key, page: page.text, back: `${operator.agent}/memory?key=${key}&${found}` }
  }

  const beside = (page: string): string[] =>
    [...page.matchAll(/aria-current="page"><span\s+class="key">([^<]*)</g)].map(
      ([, key = '']) => key,
    )

  test('is the one on which the memory was found, at every step', async () => {
    const { key, page, back } = await late()
    expect([beside(page), fieldsIn(page.split('</article>')[1] ?? '').q]).toEqual([[key], 'needle'])
    expect(linksIn(articleIn(page))).toContain(back)
    const again = await resolve(chosen(page, { 'part-0': '' }))
    expect([again.status, beside(again.text)]).toEqual([400, [key]])
    const decided = await resolve(chosen(page, { 'part-0': 'both', next: 'edit' }))
    expect(beside(decided.text)).toEqual([key])
    expect(linksIn(articleIn(decided.text))).toContain(back)
    expect(fieldsIn(articleIn(decided.text)).list).toBe(found)
    const saved = await resolve(chosen(page, { 'part-0': 'yours' }))
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `${back}&saved`])
  })

  test('and stays it where somebody wrote once more, or nothing is left to write over', async () => {
    const { key, page, back } = await late()
    await write(key, { text: 'once more' }, 2)
    const more = await resolve(chosen(page, { 'part-0': 'yours' }))
    expect([more.status, linksIn(articleIn(more.text)).includes(back)]).toEqual([409, true])
    await service.call('DELETE', `${memoryPath}?key=${key}&expectedVersion=3`, {
      token: operator.born.token,
    })
    const gone = await resolve(chosen(more.text, { 'part-0': 'yours' }))
    expect([gone.status, fieldsIn(articleIn(gone.text)).list]).toEqual([409, found])
  })
})

describe('where the base is no longer kept', () => {
  test('two sides are compared, it says so, and every difference is chosen', async () => {
    const versions = Array.from({ length: 8 }, (_, n) => ({ text: `${n}\n${BASE}` }))
    const key = await memory(...versions)
    const { status, text } = await edit(key, `0\n${BASE.replace('five', 'FIVE')}`)
    expect(status).toBe(409)
    expect(text).toContain('The version that both sides started from is no longer kept')
    expect(legends(text)).toEqual(['Difference 1 of 2', 'Difference 2 of 2'])
    expect(fieldsIn(articleIn(text))).toMatchObject({ base: '', theirs: '8' })
    await resolve(chosen(text, { 'part-0': 'theirs', 'part-1': 'yours' }))
    expect(await operator.stored(key)).toMatchObject({
      text: `7\n${BASE.replace('five', 'FIVE')}`,
      version: 9,
    })
  })
})

const HOSTILE = `</pre></textarea><kept x="1">'&amp;`

test('nothing in any of the three is markup', async () => {
  const key = await memory(
    { text: `${HOSTILE} was`, metadata: { [HOSTILE]: `${HOSTILE}0` } },
    { text: `${HOSTILE} is`, metadata: { [HOSTILE]: `${HOSTILE}1` } },
  )
  const { text } = await edit(key, `${HOSTILE} mine`, JSON.stringify({ [HOSTILE]: `${HOSTILE}2` }))
  expect(legends(text)).toHaveLength(2)
  expect(text).not.toMatch(/<\/?kept/)
  const decided = await resolve(chosen(text, { 'part-0': 'both', 'part-1': 'yours', next: 'edit' }))
  expect(decided.status).toBe(200)
  expect(decided.text).not.toMatch(/<\/?kept/)
})

test.each([
  [{}],
  [{ key: 'no key', text: '', metadata: '{}', theirs: '1' }],
  [{ key: 'k', text: '', metadata: '[', theirs: '1' }],
  [{ key: 'k', text: '', metadata: '{}', theirs: 'x' }],
])('a form that no page sends is refused: %j', async (fields) => {
  expect((await resolve(fields)).status).toBe(400)
})
