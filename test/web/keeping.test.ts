/** What a memory was: read, restored, deleted and erased at the console. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clockIn } from '../../src/web/layout/words.ts'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const HOSTILE = `</pre><kept x="1">'&amp;`

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, {
    WRITES_PER_MINUTE: '9999',
    READS_PER_MINUTE: '9999',
    CONTROLS_PER_MINUTE: '9999',
    VERSIONS_PER_MEMORY: '60',
  })
  operator = await openConsole(service)
})
afterAll(() => service.close())

type Fields = Readonly<Record<string, string>>

let keys = 0

/** A memory of its own for each test, with these versions. */
async function memory(...texts: string[]): Promise<string> {
  const key = `k${++keys}`
  for (const [at, text] of texts.entries()) await write(service, operator.born.token, key, text, at)
  return key
}

const shown = (key: string, more = '') => operator.get(`${operator.agent}/memory?key=${key}${more}`)
const send = (verb: string, fields: Fields) =>
  operator.post(`${operator.agent}/memory/${verb}`, fields)
const restore = (key: string, version: number, expectedVersion: number) =>
  send('restore', { key, version: `${version}`, expectedVersion: `${expectedVersion}` })
const remove = (key: string, version: number) =>
  operator.post(`${operator.agent}/memories`, { [`memory.${key}`]: `${version}`, do: 'delete' })
const leadsTo = ({ status, headers }: Awaited<ReturnType<typeof send>>) => [
  status,
  headers.get('location'),
]

/** The rows of the table of versions, as they are read. */
const rowsIn = (page: string): string[][] =>
  insideOf(insideOf(page, 'tbody').join(), 'tr').map((row) =>
    [...insideOf(row, 'th'), ...insideOf(row, 'td')].map((cell) =>
      textIn(cell).replace(/\s+/g, ' ').trim(),
    ),
  )

const noteIn = (page: string): string =>
  textIn(/<div class="note[^"]*"[^>]*><p>(.*?)<\/p>/s.exec(page)?.[1] ?? '')

describe('the versions of a memory', () => {
  test('are listed newest first: who did what, and when', async () => {
    const key = await memory('one', 'two!')
    service.tick(3_600_000)
    const form = fieldsIn((await operator.get(`${operator.agent}/memory/edit?key=${key}`)).text)
    await send('edit', { ...form, text: 'three' })
    const agent = 'The agent wrote'
    const moment = (at: number) => clockIn(undefined).moment(at)
    const [later, earlier] = [moment(service.now()), moment(service.now() - 3_600_000)]
    expect(rowsIn((await shown(key)).text)).toEqual([
      ['Version 3', 'You wrote', later, 'Changes of version 3', 'current'],
      ['Version 2', agent, earlier, 'Changes of version 2', 'Restore version 2'],
      ['Version 1', agent, earlier, 'Changes of version 1', 'Restore version 1'],
    ])
  })

  test('name the key that they were written with, as text', async () => {
    const made = await service.call('POST', '/api/agents/me/keys/named', {
      token: operator.born.operatorToken,
      body: { name: HOSTILE, access: 'write' },
    })
    const key = `k${++keys}`
    await write(service, String(made.body.token), key, 'x')
    const { text } = await shown(key)
    expect(text).toContain(`<bdi>The key “${escaped(HOSTILE)}”</bdi>`)
    expect(text).not.toContain('<kept')
  })

  test('are each readable as they were, and led to', async () => {
    const key = await memory(HOSTILE, 'two')
    const first = linksIn((await shown(key)).text).find((link) => link.endsWith('&version=1')) ?? ''
    const { status, text } = await operator.get(first)
    expect(status).toBe(200)
    expect(insideOf(text, 'pre')).toEqual([escaped(HOSTILE)])
    expect(noteIn(text)).toBe('This is version 1. Version 2 is the current one.')
    expect(insideOf(text, 'button')).toContain('Restore version 1')
    expect(text).not.toContain('/memory/edit')
  })

  test('the present one is shown as the memory itself', async () => {
    const key = await memory('one', 'two')
    const { text } = await shown(key, '&version=2')
    expect(noteIn(text)).toBe('')
    expect(text).toContain('/memory/edit')
  })

  test.each([
    ['&version=9', 404],
    ['&version=0', 400],
    ['&version=x', 400],
    ['&before=x', 400],
  ])('there is no page for %s: %i', async (more, status) => {
    expect((await shown(await memory('one'), more)).status).toBe(status)
  })

  test('twenty are on a page, and the page leads to those before', async () => {
    const key = await memory(...Array.from({ length: 21 }, (_, n) => `text ${n}`))
    const { text } = await shown(key)
    expect(rowsIn(text)).toHaveLength(20)
    const further = linksIn(text).find((link) => link.includes('&before=')) ?? ''
    const before = await operator.get(further.replace('#versions', ''))
    expect(rowsIn(before.text).map(([name]) => name)).toEqual(['Version 1'])
    expect(insideOf(before.text, 'pre')).toEqual(['text 20'])
    expect(linksIn(before.text).join()).not.toContain('&before=')
  })
})

describe('restoring', () => {
  test('an earlier version becomes the next', async () => {
    const key = await memory('one', 'two')
    expect(leadsTo(await restore(key, 1, 2))).toEqual([
      303,
      `${operator.agent}/memory?key=${key}&saved=1`,
    ])
    expect(await operator.stored(key)).toMatchObject({ text: 'one', version: 3 })
    const { text } = await shown(key, '&saved=1')
    expect(noteIn(text)).toBe('Restored version 1. It is version 3 now.')
    expect(rowsIn(text)[0]?.[1]).toBe('You restored')
  })

  test('the form on the page says what it is based on', async () => {
    const key = await memory('one', 'two')
    const { text } = await shown(key, '&version=1')
    const form = insideOf(text, 'form').find((each) => each.includes('<button>Restore'))
    expect(fieldsIn(form ?? '')).toEqual({ key, version: '1', expectedVersion: '2' })
  })

  test('too late, it shows both texts and leaves the choice', async () => {
    const key = await memory('one', HOSTILE)
    const { status, text } = await restore(key, 1, 1)
    expect(status).toBe(409)
    expect(insideOf(text, 'mark').map(textIn).join('')).toContain('kept')
    expect(fieldsIn(text)).toMatchObject({ key, text: 'one', base: '', theirs: '2' })
    expect(text).not.toContain('<kept')
    expect(await operator.stored(key)).toMatchObject({ text: HOSTILE, version: 2 })
  })

  test('after a delete that came between, it says so, and restores from there', async () => {
    const key = await memory('one', 'two')
    await remove(key, 2)
    const { status, text } = await restore(key, 1, 2)
    expect(status).toBe(409)
    expect(text).toContain('the memory was deleted')
    expect(fieldsIn(text)).toMatchObject({ key, expectedVersion: '0' })
  })

  test.each([
    ['9', '1', 404],
    ['0', '1', 400],
    ['', '1', 400],
    ['1.0', '1', 400],
    ['1', '', 400],
    ['1', 'x', 400],
  ])('of version %j under %j is refused: %i', async (version, expectedVersion, status) => {
    const key = await memory('one')
    expect((await send('restore', { key, version, expectedVersion })).status).toBe(status)
    expect(await operator.stored(key)).toMatchObject({ version: 1 })
  })
})

describe('deleting', () => {
  const undoIn = (page: string): Fields =>
    fieldsIn(insideOf(page, 'form').find((each) => each.includes('Undo')) ?? '')

  test('leads to the list, which brings back what is gone with one button', async () => {
    const key = await memory('one', HOSTILE)
    const { headers } = await remove(key, 2)
    const list = headers.get('location') ?? ''
    expect(list).toBe(`${operator.agent}/memories?deleted=${key}~2`)
    expect(await operator.stored(key)).toBeUndefined()
    const { text } = await operator.get(list)
    expect(textIn(text)).toContain(`Deleted ${key}.`)
    expect(undoIn(text)).toEqual({ [`memory.${key}`]: '2', list: '' })
    const undone = await operator.post(`${operator.agent}/memories/undo`, undoIn(text))
    expect(leadsTo(undone)).toEqual([303, `${operator.agent}/memory?key=${key}`])
    expect(await operator.stored(key)).toMatchObject({ text: HOSTILE, version: 4 })
  })

  test('leaves a page that tells what was there, and since when', async () => {
    const key = await memory('one', HOSTILE)
    await remove(key, 2)
    service.tick(7_200_000)
    const { status, text } = await shown(key)
    expect(status).toBe(200)
    expect(noteIn(text)).toBe(
      'You deleted this memory 2 hours ago. This is version 2, as it was before.',
    )
    expect(insideOf(text, 'pre').map(textIn)).toEqual([HOSTILE])
    expect(text).not.toContain('/memory/edit')
    expect(rowsIn(text)[0]?.[1]).toBe('You deleted')
    expect((await restore(key, 2, 0)).status).toBe(303)
    expect(await operator.stored(key)).toMatchObject({ text: HOSTILE, version: 4 })
  })

  test('of what was written in the meantime is refused in words, and deletes nothing', async () => {
    const key = await memory('one', 'two')
    const { status, text } = await remove(key, 1)
    expect(status).toBe(409)
    expect(textIn(text)).toContain(`Nothing was changed. “${key}” was written in the meantime.`)
    expect(await operator.stored(key)).toMatchObject({ version: 2 })
  })

  test('sent twice is done once, and so is its undo', async () => {
    const key = await memory('one')
    expect([(await remove(key, 1)).status, (await remove(key, 1)).status]).toEqual([303, 303])
    const undo = () => operator.post(`${operator.agent}/memories/undo`, { [`memory.${key}`]: '1' })
    expect([(await undo()).status, (await undo()).status]).toEqual([303, 303])
    expect(await operator.stored(key)).toMatchObject({ text: 'one', version: 3 })
  })

  test('is not taken back where the memory was written again meanwhile', async () => {
    const key = await memory('one')
    await remove(key, 1)
    await write(service, operator.born.token, key, 'anew')
    const undo = await operator.post(`${operator.agent}/memories/undo`, { [`memory.${key}`]: '1' })
    expect(undo.status).toBe(409)
    expect(await operator.stored(key)).toMatchObject({ text: 'anew' })
  })

  test('of what never was is refused', async () => {
    const { status, text } = await remove('none', 1)
    expect([status, textIn(text).includes('“none” no longer exists.')]).toEqual([409, true])
  })
})

describe('erasing', () => {
  const asked = (key: string) => operator.get(`${operator.agent}/memory/erase?key=${key}`)
  const erase = (key: string, versions: string, typed = key) =>
    send('erase', { key, versions, typed })

  test('says that nothing brings it back, and asks for the key', async () => {
    const { status, text } = await asked(await memory('one'))
    expect(status).toBe(200)
    expect(text).toContain('<strong>This cannot be undone.</strong>')
    expect(fieldsIn(text).typed).toBe('')
  })

  test('of the history leaves what is stored', async () => {
    const key = await memory('one', 'two')
    expect(leadsTo(await erase(key, 'history'))).toEqual([
      303,
      `${operator.agent}/memory?key=${key}`,
    ])
    expect(rowsIn((await shown(key)).text).map(([name]) => name)).toEqual(['Version 2'])
    expect((await shown(key, '&version=1')).status).toBe(410)
    expect(await operator.stored(key)).toMatchObject({ text: 'two', version: 2 })
  })

  test('of the history of what was deleted leaves a page without a text', async () => {
    const key = await memory('one')
    await remove(key, 1)
    await erase(key, 'history')
    const { status, text } = await shown(key)
    expect([status, noteIn(text)]).toEqual([200, expect.stringContaining('No text of it is kept.')])
    expect(text).not.toContain('>Restore<')
  })

  test('of one version leaves the others', async () => {
    const key = await memory('one', 'two', 'three')
    const { text } = await operator.get(`${operator.agent}/memory/erase?key=${key}&versions=1`)
    expect(insideOf(text, 'option').map(textIn)).toEqual([
      'Its history: every version except the newest',
      'Only version 2, from just now',
      'Only version 1, from just now',
      'All of it: the current text and its history',
    ])
    expect(fieldsIn(text).versions).toBe('1')
    expect((await erase(key, '1')).status).toBe(303)
    expect(rowsIn((await shown(key)).text).map(([name]) => name)).toEqual([
      'Version 3',
      'Version 2',
    ])
    expect((await erase(key, '3')).status).toBe(409)
  })

  test('of one version is offered for each that is kept', async () => {
    const key = await memory(...Array.from({ length: 25 }, (_, n) => `text ${n}`))
    const offered = insideOf((await asked(key)).text, 'option').map(textIn)
    expect(offered.slice(1, -1)).toEqual(
      Array.from({ length: 24 }, (_, n) => `Only version ${24 - n}, from just now`),
    )
  })

  test('of all leaves nothing, not even a page', async () => {
    const key = await memory('one', 'two')
    expect(leadsTo(await erase(key, 'all'))).toEqual([303, `${operator.agent}/memories`])
    expect([(await shown(key)).status, (await asked(key)).status]).toEqual([404, 404])
    expect(await operator.stored(key)).toBeUndefined()
  })

  test.each([
    ['another key', 'all', 'other'],
    ['the key and a blank', 'all', ' '],
    ['nothing', 'all', ''],
    ['no choice', 'none', undefined],
  ])('with %s typed is refused, and erases nothing', async (_, versions, typed) => {
    const key = await memory('one', 'two')
    const { status, text } = await erase(key, versions, typed === ' ' ? `${key} ` : typed)
    expect(status).toBe(400)
    expect(text).toContain('class="fault"')
    expect(rowsIn((await shown(key)).text)).toHaveLength(2)
  })

  test('repeats what was typed as text', async () => {
    const { text } = await erase(await memory('one'), 'all', HOSTILE)
    expect(text).toContain(escaped(HOSTILE))
    expect(text).not.toContain('<kept')
  })
})
