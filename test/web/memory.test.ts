/** One memory at the console: shown as the agent wrote it, and edited without a loss. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService } from '../harness.ts'
import { articleIn, fieldsIn, insideOf, linksIn, scriptsIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOSTILE = `\n  <script>&amp;</script>\t“слово” 'and' 🌱</pre></textarea>`
const METADATA = { a: [1, `</textarea><b>'"&`] }

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '9999', READS_PER_MINUTE: '9999' })
  operator = await openConsole(service)
})
afterAll(() => service.close())

type Fields = Readonly<Record<string, string>>

let keys = 0

/** A memory of its own for each test. */
async function memory(text: string, metadata = {}): Promise<string> {
  const key = `k${++keys}`
  const body = { key, text, metadata, expectedVersion: 0 }
  const { status } = await service.call('POST', memoryPath, { token: operator.born.token, body })
  expect(status).toBe(200)
  return key
}

const shown = (key: string, more = '') => operator.get(`${operator.agent}/memory?key=${key}${more}`)
const edited = (key: string) => operator.get(`${operator.agent}/memory/edit?key=${key}`)
const save = (fields: Fields) => operator.post(`${operator.agent}/memory/edit`, fields)

/** Browsers send every line end as a carriage return and a line feed. */
const asSent = (text: string): string => text.replace(/\r\n?|\n/g, '\r\n')

/** The form of a memory as a browser sends it, with what its user changed. */
async function filledIn(key: string, changes: Fields = {}): Promise<Fields> {
  const fields: Fields = { ...fieldsIn(articleIn((await edited(key)).text)), ...changes }
  return { ...fields, text: asSent(fields.text ?? '') }
}

describe('a memory’s page', () => {
  test('shows text and metadata as they were written', async () => {
    const { status, text } = await shown(await memory(HOSTILE, METADATA))
    expect(status).toBe(200)
    expect(insideOf(text, 'pre').map(textIn)).toEqual([
      `\n${HOSTILE}`,
      JSON.stringify(METADATA, null, 2),
    ])
    expect(text).not.toContain('<script>')
  })

  test('names no metadata where there are none', async () => {
    const { text } = await shown(await memory('plain'))
    expect(text).not.toContain('Metadata')
  })

  test('says who wrote it last, which version, and when', async () => {
    const key = await memory('слово')
    service.tick(7_200_000)
    await save(await filledIn(key, { text: 'слова два' }))
    const written = async (more = '') =>
      textIn(/<p class="written">(.*?)<\/p>/s.exec((await shown(key, more)).text)?.[1] ?? '')
    expect(await written()).toBe('You wrote version 2 just now What changed')
    expect(await written('&version=1')).toBe('The agent wrote version 1 2 hours ago What changed')
  })

  test('leads to what can be done with it, to its versions, and back', async () => {
    const key = await memory('plain')
    const main = insideOf((await shown(key)).text, 'main').join()
    const { agent } = operator
    const alone = main.slice(0, main.indexOf('class="beside"'))
    expect(linksIn(alone)).toEqual([
      `${agent}/memories`,
      `${agent}/memory/edit?key=${key}`,
      `${agent}/memory/rename?key=${key}`,
      `${agent}/memory/download?key=${key}&version=1`,
      `${agent}/memory/erase?key=${key}`,
      `${agent}/memory?key=${key}&changes=1#v1`,
      `${agent}/memory?key=${key}&version=1`,
      `${agent}/memory?key=${key}&changes=1#v1`,
    ])
    expect(main).toContain(`<h1 class="key">${key}</h1>`)
  })

  test('says that it was saved only after it was', async () => {
    const key = await memory('plain')
    expect((await shown(key)).text).not.toContain('Saved')
    expect((await shown(key, '&saved')).text).toContain('<p>Saved as version 1.</p>')
  })

  test('is titled by its key', async () => {
    const key = await memory('plain')
    expect((await shown(key)).text).toContain(`<title>${key} · Atlas · Agent Home</title>`)
  })

  test.each(['', '?key=', '?key=no%20key'])('is asked for by one key: not by %j', async (query) => {
    expect((await operator.get(`${operator.agent}/memory${query}`)).status).toBe(400)
    expect((await operator.get(`${operator.agent}/memory/edit${query}`)).status).toBe(400)
  })

  test('is not there where no memory is, and neither is its form', async () => {
    expect([(await shown('none')).status, (await edited('none')).status]).toEqual([404, 404])
  })
})

describe('the form in which a memory is edited', () => {
  test('holds text, metadata, key and version as they are stored', async () => {
    const key = await memory(HOSTILE, METADATA)
    const { status, text } = await edited(key)
    expect(status).toBe(200)
    expect(fieldsIn(articleIn(text))).toEqual({
      key,
      text: HOSTILE,
      metadata: JSON.stringify(METADATA),
      expectedVersion: '1',
    })
    expect(text).toContain(`<h1 class="key" id="about">${key}</h1>`)
    expect(text).toContain(`<title>Edit ${key} · Atlas · Agent Home</title>`)
    expect(text).toContain('You are editing version 1.')
    expect(text).toContain(operator.email)
  })

  test('saves, or leads back without a change', async () => {
    const key = await memory('plain')
    const main = articleIn((await edited(key)).text)
    expect(insideOf(main, 'button')).toEqual(['Save'])
    expect(linksIn(main)).toContain(`${operator.agent}/memory?key=${key}`)
    expect(main).toContain('>Cancel</a>')
  })

  test('stands below its memory, counts bytes, keeps a draft, and hears of other writes', async () => {
    const key = await memory('plain')
    const { text } = await edited(key)
    const [, crumbs = ''] = /<nav class="crumbs"(.*?)<\/nav>/s.exec(text) ?? []
    expect(linksIn(crumbs).at(-1)).toBe(`${operator.agent}/memory?key=${key}`)
    expect(insideOf(crumbs, 'li').map(textIn).slice(-2)).toEqual([key, 'Edit'])
    const scripts = [
      'bytes',
      'draft',
      'submit',
      'later',
      'find',
      'follow',
      'dialogs',
      'keyboard',
      'ticking',
      'zone',
    ]
    expect(scriptsIn(text)).toEqual(scripts)
    expect(text).toContain(`data-from="${operator.agent}/memory/edit?key=${key}"`)
    expect(text).toContain(`data-key="${key}" data-version="1"`)
  })

  test.each([
    ['line feeds', 'one\ntwo\n'],
    ['line ends of another system', 'one\r\ntwo\r\n'],
    ['lone carriage returns', 'one\rtwo\r'],
    ['all of them at once', 'one\r\ntwo\nthree\rfour'],
    ['markup, blanks and a first empty line', HOSTILE],
  ])('sent back as it came, with %s, makes no version', async (_, text) => {
    const key = await memory(text, METADATA)
    const { status, headers } = await save(await filledIn(key))
    expect([status, headers.get('location')]).toEqual([
      303,
      `${operator.agent}/memory?key=${key}&saved=unchanged`,
    ])
    expect(await operator.stored(key)).toMatchObject({ text, metadata: METADATA, version: 1 })
  })

  test.each([
    ['line feeds', 'one\ntwo\n', '\n'],
    ['line ends of another system', 'one\r\ntwo\r\n', '\r\n'],
    ['no line end', 'one', '\n'],
    ['both line ends', 'one\r\ntwo\n', '\n'],
    ['both, the line feed first', '\none\r\n', '\n'],
  ])('an edit of a text with %s keeps to what all of its lines have', async (_, text, end) => {
    const key = await memory(text)
    await save(await filledIn(key, { text: 'new\n\ntext\n' }))
    expect(await operator.stored(key)).toMatchObject({ text: `new${end}${end}text${end}` })
  })

  test('no metadata are an empty object', async () => {
    const key = await memory('plain', METADATA)
    expect((await save(await filledIn(key, { metadata: '' }))).status).toBe(303)
    expect(await operator.stored(key)).toMatchObject({ metadata: {} })
  })

  test('metadata keep their digits and the order of their keys', async () => {
    const key = await memory('plain')
    const metadata = '{"2":9007199254740993,"1":[-0,1.50]}'
    expect((await save(await filledIn(key, { metadata }))).status).toBe(303)
    expect(fieldsIn(articleIn((await edited(key)).text)).metadata).toBe(metadata)
    const shownAs = '{\n  "2": 9007199254740993,\n  "1": [\n    -0,\n    1.50\n  ]\n}'
    expect(insideOf((await shown(key)).text, 'pre').map(textIn)).toContain(shownAs)
  })

  test.each(['{', '"text"', '[1]'])(
    'metadata that are not one strict JSON object are refused beside their field: %s',
    async (metadata) => {
      const key = await memory('plain')
      const { status, text } = await save(await filledIn(key, { metadata, text: HOSTILE }))
      expect(status).toBe(400)
      expect(text).toMatch(/id="metadata-fault">This must be (one JSON|an) object\.</)
      expect(text).toContain('<p>Fix the fields marked in red.</p>')
      expect(fieldsIn(text)).toMatchObject({ key, metadata, expectedVersion: '1' })
      expect(fieldsIn(text).text).toBe(asSent(HOSTILE))
      expect(await operator.stored(key)).toMatchObject({ text: 'plain', version: 1 })
    },
  )

  test('a text that is too large is refused in a sentence, and not lost', async () => {
    const key = await memory('plain')
    const { status, text } = await save(await filledIn(key, { text: 'щ'.repeat(8193) }))
    expect(status).toBe(413)
    expect(text).toContain('role="alert"><p>Nothing was saved. A text holds at most 16,384 bytes')
    expect(fieldsIn(text).text).toHaveLength(8193)
  })

  test.each([
    ['one', 400],
    ['', 400],
    ['-1', 400],
    ['1.0', 400],
    ['0x1', 400],
    [' 1', 400],
    ['1 ', 400],
    ['1e0', 400],
    ['12345678901234567', 400],
    ['9007199254740993', 400],
    ['9007199254740991', 409],
    ['0', 409],
    ['10', 409],
    ['1', 303],
    ['0000000000000001', 303],
  ])('a version is a whole number in digits: %j is answered with %i', async (version, status) => {
    const key = await memory('plain')
    expect(
      (await save(await filledIn(key, { text: 'new', expectedVersion: version }))).status,
    ).toBe(status)
  })

  test('a form without a field is refused, and so is a key that holds nothing', async () => {
    const key = await memory('plain')
    const { text: _, ...textless } = await filledIn(key)
    const { expectedVersion: __, ...versionless } = await filledIn(key)
    const { key: ___, ...keyless } = await filledIn(key)
    const statuses = [
      await save(textless),
      await save(versionless),
      await save(keyless),
      await save(await filledIn(key, { key: 'none' })),
      await save(await filledIn(key, { key: 'no key' })),
    ].map(({ status }) => status)
    expect(statuses).toEqual([400, 400, 400, 404, 400])
    expect((await save(keyless)).text).toContain('<h1 class="key" id="about"></h1>')
    expect((await save(versionless)).text).toContain('data-version=""')
  })
})
