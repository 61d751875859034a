/** The list of an agent's memories: by key, by the beginning of a key, and page by page. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { embedded, inGroups, openService, type TestService, write } from '../harness.ts'
import { escaped, fieldsIn, insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0' })
  operator = await openConsole(service)
  const keys = Array.from({ length: 51 }, (_, i) => `many.${String(i).padStart(2, '0')}`)
  await inGroups([...keys, 'few.b', 'few.a'], (key) =>
    write(service, operator.born.token, key, 'слово'),
  )
})
afterAll(() => service.close())

const page = async (query = ''): Promise<string> => {
  const { status, text } = await operator.get(`${operator.agent}/memories${query}`)
  expect(status).toBe(200)
  return text
}

const keysIn = (text: string): string[] => insideOf(text, 'th').slice(4).map(textIn)

const further = (text: string): string | undefined => linksIn(text).find((to) => to[0] === '?')

test('memories are listed by key, each with its size, version and age', async () => {
  const text = await page('?prefix=few.')
  expect(keysIn(text)).toEqual(['few.a', 'few.b'])
  expect(linksIn(text)).toContain(`${operator.agent}/memory?key=few.a`)
  expect(insideOf(text, 'td').slice(0, 3).map(textIn)).toEqual([
    '10 bytes',
    'version 1',
    'just now',
  ])
  expect(text).toContain('<title>Memories · Atlas · Agent Home</title>')
  expect(text).toContain(operator.email)
})

test('without a beginning every key is listed', async () => {
  expect(keysIn(await page()).slice(0, 3)).toEqual(['few.a', 'few.b', 'many.00'])
})

test('fifty stand on a page, and the rest on the next', async () => {
  const first = await page('?prefix=many')
  expect([keysIn(first).length, keysIn(first).at(-1)]).toEqual([50, 'many.49'])
  const next = further(first)
  expect(next).toBe('?prefix=many&after=many.49')
  const second = await page(next)
  expect(keysIn(second)).toEqual(['many.50'])
  expect(further(second)).toBeUndefined()
})

test('a beginning is searched for again, as text', async () => {
  const prefix = `"><b>&'`
  const text = await page(`?prefix=${encodeURIComponent(prefix)}`)
  expect(fieldsIn(text)).toEqual({ prefix })
  expect(text).toContain(`<p class="empty">No key begins with “${escaped(prefix)}”.</p>`)
  expect(text).not.toContain('<table')
  const field = /<input [^>]*name="prefix"[^>]*>/.exec(text)?.[0]
  expect(field).toContain(' type="search"')
  expect(field).not.toContain('required')
  expect(fieldsIn(await page())).toEqual({ prefix: '' })
})

test('an agent that keeps nothing is said to keep nothing', async () => {
  const newcomer = await openConsole(service)
  const { text } = await newcomer.get(`${newcomer.agent}/memories`)
  expect(text).toContain('<p class="empty">Nothing is kept yet.</p>')
  expect(further(text)).toBeUndefined()
})

test('the list leads back to the agent and to all agents', async () => {
  const main = insideOf(await page('?prefix=few.'), 'main').join()
  expect(linksIn(main).slice(0, 2)).toEqual(['/console', operator.agent])
})
