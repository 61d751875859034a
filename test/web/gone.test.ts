/** A memory that is gone while somebody edits it, or follows a link to it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService, write } from '../harness.ts'
import { articleIn, fieldsIn, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded, { WRITES_PER_MINUTE: '0' })
  operator = await openConsole(service)
})
afterAll(() => service.close())

let keys = 0

/** Of two versions. */
async function memory(): Promise<string> {
  const key = `gone${++keys}`
  await write(service, operator.born.token, key, 'one')
  await write(service, operator.born.token, key, 'two', 1)
  return key
}

const remove = (key: string) =>
  service.call('DELETE', `${memoryPath}?key=${key}&expectedVersion=2`, {
    token: operator.born.token,
  })

const rename = (from: string, to: string) =>
  service.call('POST', '/api/agents/me/batch', {
    token: operator.born.token,
    body: { operations: [{ rename: { from, to, expectedVersion: 2 } }] },
  })

const erase = (key: string) =>
  service.call('POST', `${memoryPath}/erase`, {
    token: operator.born.operatorToken,
    body: { key, versions: 'all' },
  })

const edit = (key: string, expectedVersion = '2') =>
  operator.post(`${operator.agent}/memory/edit`, {
    ...{ key, text: 'mine\r\nand more', metadata: '{"a":1.50}', expectedVersion },
  })

const noteIn = (page: string): string => textIn(articleIn(page)).replace(/\s+/g, ' ')

describe('an edit of a memory that was deleted in the meantime', () => {
  test('keeps what was typed, says who deleted it when, and offers to create it again', async () => {
    const key = await memory()
    await remove(key)
    service.tick(120_000)
    const { status, text } = await edit(key)
    expect(status).toBe(404)
    expect(noteIn(text)).toContain('Deleted 2 minutes ago. The agent.')
    expect(noteIn(text)).toContain('What you wrote is below and is not saved yet.')
    expect(text).not.toContain('expectedVersion 0')
    expect(linksIn(articleIn(text))).toContain(`${operator.agent}/memory?key=${key}`)
    const form = fieldsIn(articleIn(text))
    expect(form).toEqual({
      ...{ key, text: 'mine\r\nand more', metadata: '{"a":1.50}', expectedVersion: '0' },
    })
    const again = await operator.post(`${operator.agent}/memory/edit`, form)
    expect([again.status, again.headers.get('location')]).toEqual([
      303,
      `${operator.agent}/memory?key=${key}&saved`,
    ])
    expect(await operator.stored(key)).toMatchObject({
      ...{ text: 'mine\nand more', metadata: { a: 1.5 }, version: 4 },
    })
  })

  test('and is there again by then, is compared with what is there', async () => {
    const key = await memory()
    await remove(key)
    await write(service, operator.born.token, key, 'theirs')
    const { status, text } = await edit(key, '0')
    expect([status, text.includes('Version 4 was written')]).toEqual([409, true])
    expect(await operator.stored(key)).toMatchObject({ text: 'theirs' })
  })

  test('or in mid-conflict, is not lost either', async () => {
    const key = await memory()
    await write(service, operator.born.token, key, 'three', 2)
    const conflict = await edit(key)
    const chosen = { ...fieldsIn(conflict.text), 'part-0': 'yours' }
    await service.call('DELETE', `${memoryPath}?key=${key}&expectedVersion=3`, {
      token: operator.born.token,
    })
    const { status, text } = await operator.post(`${operator.agent}/memory/resolve`, chosen)
    expect(status).toBe(409)
    expect(fieldsIn(articleIn(text))).toMatchObject({
      ...{ key, text: 'mine\nand more', expectedVersion: '0' },
    })
    await erase(key)
    const erased = await operator.post(`${operator.agent}/memory/resolve`, chosen)
    expect(fieldsIn(articleIn(erased.text)).text).toBe('mine\nand more')
  })

  test.each([
    ['renamed', (key: string) => rename(key, `${key}.next`), 'Renamed to gone'],
    ['erased', erase, 'Erased just now. The operator'],
  ])('or %s, says so', async (_, end, words) => {
    const key = await memory()
    await end(key)
    const { status, text } = await edit(key)
    expect(status).toBe(404)
    expect(noteIn(text)).toContain(words)
    expect(fieldsIn(articleIn(text))).toMatchObject({ text: 'mine\r\nand more' })
  })
})

test('the editor of a deleted memory begins with its last text: a draft of it is not out of reach', async () => {
  const key = await memory()
  await remove(key)
  const { status, text } = await operator.get(`${operator.agent}/memory/edit?key=${key}`)
  expect(status).toBe(404)
  expect(text).toContain(`data-draft="${operator.born.agentId} ${key}"`)
  expect(fieldsIn(articleIn(text))).toMatchObject({
    ...{ text: 'two', expectedVersion: '0' },
  })
})

describe('the page of a memory of which nothing is kept', () => {
  test('that was renamed leads to its new key', async () => {
    const key = await memory()
    await rename(key, `${key}.next`)
    const { status, text } = await operator.get(`${operator.agent}/memory?key=${key}`)
    expect(status).toBe(404)
    expect(noteIn(text)).toContain(`Renamed to ${key}.next just now. The agent.`)
    expect(linksIn(text)).toContain(`${operator.agent}/memory?key=${key}.next`)
  })

  test.each(['', '/edit', '/rename', '/erase', '/compare'])(
    'is one of the agent’s pages, in words for people: %s',
    async (below) => {
      const { status, text } = await operator.get(`${operator.agent}/memory${below}?key=never`)
      expect(status).toBe(404)
      expect(noteIn(text)).toContain('This key has no memory and no kept versions.')
      expect(linksIn(text)).toContain(`${operator.agent}/memories`)
      expect(text).not.toContain('expectedVersion 0')
    },
  )
})
