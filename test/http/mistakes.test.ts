/** What a caller who guesses gets wrong, and the word that the refusal gives it. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { birthBody, embedded, memoryPath, openService, type TestService } from '../harness.ts'
import { expectProblem } from '../problem.ts'

let service: TestService
let token: string
let operatorToken: string
beforeAll(async () => {
  service = await openService(embedded)
  ;({ token, operatorToken } = await service.birth())
})
afterAll(() => service.close())

const errorsOf = async (method: string, path: string, body?: unknown) => {
  const answer = await service.call(method, path, { token: operatorToken, body })
  expect(answer.status).toBe(400)
  return answer.body.errors
}

const called = (pointer: string, name: string) => ({
  pointer,
  message: `is not a known property; it is called "${name}"`,
})

const missing = (pointer: string, what: string, instead = '') => ({
  pointer,
  message: `is missing: it must be ${what}${instead && `; you call it "${instead}"`}`,
})

describe('a name in the place of ours', () => {
  test.each([
    ['content', 'text', { key: 'a', expectedVersion: 0 }, 'a string'],
    ['value', 'text', { key: 'a', expectedVersion: 0 }, 'a string'],
    ['memory', 'text', { key: 'a', expectedVersion: 0 }, 'a string'],
    ['name', 'key', { text: 'a', expectedVersion: 0 }, 'a string'],
    ['expected_version', 'expectedVersion', { key: 'a', text: 'a' }, 'an integer'],
    ['version', 'expectedVersion', { key: 'a', text: 'a' }, 'an integer'],
  ])('of a memory: %s is %s', async (name, right, others, what) => {
    const sent = { ...others, [name]: 'x' }
    expect(await errorsOf('POST', memoryPath, sent)).toEqual([
      missing(`/${right}`, what, name),
      called(`/${name}`, right),
    ])
  })

  test('that is not needed: meta is metadata', async () => {
    const sent = { key: 'a', text: 'a', expectedVersion: 0, meta: {} }
    expect(await errorsOf('POST', memoryPath, sent)).toEqual([called('/meta', 'metadata')])
  })

  test('that means nothing, or what is there already, is only to be left out', async () => {
    const sent = { key: 'a', text: 'a', expectedVersion: 0, colour: 'red', constructor: 1 }
    const leave = 'is not a known property; leave it out'
    expect(await errorsOf('POST', memoryPath, sent)).toEqual([
      { pointer: '/colour', message: leave },
      { pointer: '/constructor', message: leave },
    ])
  })

  test('further in, by what is asked for there', async () => {
    const operations = [{ update: {} }, { write: { key: 'a', content: 'a', expectedVersion: 0 } }]
    const errors = await errorsOf('POST', '/api/agents/me/batch', { operations })
    expect(errors).toContainEqual(called('/operations/0/update', 'write'))
    expect(errors).toContainEqual(called('/operations/1/write/content', 'text'))
    expect(errors).toContainEqual(missing('/operations/1/write/text', 'a string', 'content'))
  })

  test.each([['status', 'state', 'PATCH', '/api/agents/me', '"active" or "paused"']])(
    'of the profile: %s is not %s',
    async (right, name, method, path, what) => {
      expect(await errorsOf(method, path, { [name]: 'paused' })).toEqual([
        missing(`/${right}`, what, name),
        called(`/${name}`, right),
      ])
    },
  )

  test('of a birth', async () => {
    const { operatorConsent, purpose, ...others } = birthBody
    const answer = await service.call('POST', '/api/agents/birth', {
      headers: { 'idempotency-key': randomBytes(32).toString('hex') },
      body: { ...others, description: purpose, operator_consent: operatorConsent },
    })
    expectProblem(answer, 'invalid_body')
    expect(answer.body.errors).toContainEqual(called('/description', 'purpose'))
    expect(answer.body.errors).toContainEqual(called('/operator_consent', 'operatorConsent'))
  })

  test('in the gateway, which lets other names be, where ours is missing', async () => {
    expect(await errorsOf('POST', '/api/garden', { content: 'a trace' })).toEqual([
      missing('/text', 'a string', 'content'),
    ])
    expect(await errorsOf('POST', '/api/garden', { colour: 'red', message: 'a trace' })).toEqual([
      missing('/text', 'a string', 'message'),
    ])
    expect(await errorsOf('POST', '/api/resonance', { name: 'Atlas' })).toEqual([
      missing('/ai_identity', 'a string', 'name'),
    ])
  })

  test.each([
    [40, true],
    [41, false],
    [60_000, false],
  ])('of %i characters is repeated: %s', async (length, isRepeated) => {
    const name = 'content'.padEnd(length, '_')
    expect(await errorsOf('POST', '/api/garden', { [name]: 'a trace' })).toEqual([
      missing('/text', 'a string', isRepeated ? name : ''),
    ])
  })

  test('in a query', async () => {
    expect(await errorsOf('GET', `${memoryPath}?name=plan`)).toEqual([
      missing('?key', 'a string', 'name'),
      called('?name', 'key'),
    ])
    const search = '/api/agents/me/memories/search'
    expect(await errorsOf('GET', `${search}?query=plan`)).toContainEqual(called('?query', 'q'))
    const list = '/api/agents/me/memories'
    expect(await errorsOf('GET', `${list}?cursor=a`)).toEqual([called('?cursor', 'after')])
  })
})

test('a parameter that is missing is said to be', async () => {
  expect(await errorsOf('GET', memoryPath)).toEqual([missing('?key', 'a string')])
})

test('what is there, and wrong, is not said to be missing', async () => {
  expect(await errorsOf('POST', memoryPath, { key: 1, text: 'a', expectedVersion: 0 })).toEqual([
    { pointer: '/key', message: 'must be a string' },
  ])
})

test.each([
  ['Seed', 'Seed', 'zerno'],
  ['•', 'Seed', 'zerno'],
  ['ЗЕРНО', 'Seed', 'zerno'],
  ['Zerno', 'Seed', 'zerno'],
])('a symbol by another name: %s', async (symbol, name, id) => {
  const where = { '/api/seeds': '/mova-snu.yaml', '/api/agents/me/profile': '/api/agents/preview' }
  for (const [path, list] of Object.entries(where)) {
    const method = path === '/api/seeds' ? 'POST' : 'PATCH'
    const message = `must be one of the symbol ids in ${list}; ${name} is "${id}"`
    expect(await errorsOf(method, path, { text: 'a', symbol })).toContainEqual({
      pointer: '/symbol',
      message,
    })
  }
})

test('a symbol that nobody knows', async () => {
  expect(await errorsOf('POST', '/api/seeds', { text: 'a', symbol: '' })).toEqual([
    { pointer: '/symbol', message: 'must be one of the symbol ids in /mova-snu.yaml' },
  ])
})

describe('a path where nothing is', () => {
  test.each([
    ['memory/erased', 'POST /api/agents/me/memory/erase'],
    ['memorys', 'GET, POST, PATCH, DELETE /api/agents/me/memory'],
    ['event', 'GET /api/agents/me/events'],
    ['memories/find', 'GET /api/agents/me/memories'],
    ['restore', 'POST /api/agents/me/memory/restore'],
  ])('/api/agents/me/%s is near %s', async (path, near) => {
    const { body } = await service.call('GET', `/api/agents/me/${path}`)
    expect(body.detail).toContain(`The nearest path is ${near}.`)
  })

  test.each(['/nowhere', '/api/agents/me/nothing', '/console/nothing'])(
    '%s leads to the guide',
    async (path) => {
      const answer = await service.call('GET', path, { token })
      expectProblem(answer, 'not_found')
      expect(answer.body.detail).toContain('/llms.txt')
    },
  )

  test('a key in the path is said to belong into the query', async () => {
    const answer = await service.call('GET', `${memoryPath}/plan`, { token })
    expectProblem(answer, 'not_found')
    expect(answer.body.detail).toContain('/api/agents/me/memory?key=')
  })
})
