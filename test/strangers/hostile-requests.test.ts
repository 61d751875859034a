/** What a request may cost everybody else, whatever it asks for: pages, lists, queries and forms. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, type RunningServer } from '../../src/http/server.ts'
import { embedded, inGroups, openService, type TestService, write } from '../harness.ts'
import { least, longestWait } from '../http/longest-wait.ts'
import { request } from '../http/socket.ts'
import { type Operator, openConsole } from '../web/operator.ts'

const BOUND_MS = 25

const TEXT_BYTES = 16_384
const MEMORIES = 1_000
const ENTRIES = 100

let service: TestService
let server: RunningServer
let operator: Operator

const unlimited = {
  ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
  ...{ CONTROLS_PER_MINUTE: '0', SIGN_IN_FAILURES_PER_HOUR: '0', MEMORIES_PER_AGENT: '0' },
}

const FORM = 'Content-Type: application/x-www-form-urlencoded'
const JSON_TYPE = 'Content-Type: application/json'

/** As long as a text may be, made of a unit. */
const filled = (unit: string, bytes = TEXT_BYTES): string =>
  unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)))

/** Words in an order of its own for each step: two of these have little in common. */
function strewn(step: number, separator: string): string {
  const words = Array.from({ length: 4_000 }, (_, n) => ((n * step) % 4_001).toString(36))
  return words.join(separator).slice(0, TEXT_BYTES)
}

/** Stored, and sent in an edit that came too late. */
const texts: Readonly<Record<string, readonly [stored: string, sent: string]>> = {
  'of the same words in another order': [strewn(1, ' '), strewn(997, ' ')],
  'of the same lines in another order': [strewn(1, '\n'), strewn(997, '\n')],
  'of two letters': [filled('a b '), filled('b a a ')],
  'of single letters that never meet': [filled('a b c '), filled('x y z ')],
  'of one letter, of another number': [filled('a '), filled('a ', 8_000)],
  'of punctuation': [filled('!?.,'), filled('.!,?;')],
  'of markup': [filled('<b>&amp;</b>\n'), filled('<i>"\'</i>\n')],
  'of empty lines': [filled('\n'), filled('\n', 8_000)],
  'of letters that are written in several parts': [filled('e\u0301 '), filled('\u00e9 ')],
}

beforeAll(async () => {
  service = await openService(embedded, unlimited)
  server = await listen(service.app, '127.0.0.1', 0)
  operator = await openConsole(service)
  const { token } = operator.born
  const keys = Array.from({ length: MEMORIES }, (_, n) => `k${n}`.padEnd(100, '.'))
  await inGroups(keys, (key) => write(service, token, key, filled('"<&\n')))
  const left = Array.from({ length: ENTRIES }, (_, n) => filled(`<"&\n${n} `, 60_000))
  for (const path of ['/api/garden', '/api/seeds', '/api/shepit']) {
    await inGroups(left, (text) => service.call('POST', path, { body: { text } }))
  }
})

afterAll(async () => {
  await server.drain()
  await service.close()
})

/** The answer is read and let go: to keep it costs as much as some of what is measured here. */
function statusOf(bytes: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let line = ''
  const socket = connect(server.port, '127.0.0.1')
  socket.on('data', (chunk: Buffer) => {
    line ||= chunk.toString('latin1', 0, 12)
  })
  socket.on('close', () => resolve(line))
  socket.on('error', reject)
  socket.write(bytes)
  return promise
}

/** The request as bytes; what it is answered does not matter here. */
async function expectBrief(bytes: Buffer, status = /[234]../): Promise<void> {
  const ask = () =>
    longestWait(async () => {
      expect(await statusOf(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status.source}$`))
    })
  expect(await least(BOUND_MS, ask)).toBeLessThan(BOUND_MS)
}

const bearer = (): string => `Authorization: Bearer ${operator.born.operatorToken}`

const post = (path: string, type: string, body: string, ...headers: string[]): Buffer => {
  const bytes = Buffer.from(body)
  return request(
    `POST ${path} HTTP/1.1`,
    [type, `Content-Length: ${bytes.length}`, ...headers],
    bytes,
  )
}

const get = (path: string, ...headers: string[]): Buffer =>
  request(`GET ${path} HTTP/1.1`, ['Accept: text/html', ...headers])

/** As many as fit, each with its number. */
const many = (bytes: number, each: (n: number) => string, separator: string): string => {
  const items: string[] = []
  for (let n = 0, size = 0; size < bytes; n++) {
    items.push(each(n))
    size += (items.at(-1)?.length ?? 0) + separator.length
  }
  return items.join(separator)
}

const headerOf = (name: string, each: (n: number) => string, separator: string): string =>
  `${name}: ${many(15_000, each, separator)}`

const queries = {
  'thousands of parameters': many(15_000, (n) => n.toString(36), '&'),
  'thousands of empty parameters': filled('&', 15_000),
  'one parameter of escapes': `key=${filled('%41', 15_000)}`,
  'one parameter of broken escapes': `key=${filled('%f0', 15_000)}`,
  'one parameter of plus signs': `key=${filled('+', 15_000)}`,
}

const paths = [
  '/api/agents/me/memory',
  '/api/garden',
  '/api/resonance',
  '/console/sign-in',
  '/rooms/memory-garden',
]

test.each(
  paths.flatMap((path) => Object.entries(queries).map(([name, query]) => [path, name, query])),
)('%s asked with %s keeps nobody waiting', async (path, _, query) => {
  await expectBrief(get(`${path}?${query}`, bearer()))
})

const headers = {
  'cookies without end': headerOf('Cookie', (n) => `${n.toString(36)}=${n}`, '; '),
  'one cookie again and again': headerOf('Cookie', () => 'session=x', '; '),
  'a cookie of escapes': headerOf('Cookie', () => 'session=%41%42', ''),
  'types without end': headerOf('Accept', (n) => `a/${n};q=0.1`, ', '),
  'forwarders without end': headerOf('X-Forwarded-For', (n) => `10.0.0.${n % 256}`, ', '),
  'versions without end': headerOf('If-None-Match', (n) => `"${n}"`, ', '),
}

test.each(
  ['/api/agents/me/memory?key=k', '/console', '/', '/rooms/memory-garden'].flatMap((path) =>
    Object.entries(headers).map(([name, header]) => [path, name, header]),
  ),
)('%s asked with %s keeps nobody waiting', async (path, _, header) => {
  await expectBrief(request(`GET ${path} HTTP/1.1`, [header]))
})

const forms = {
  'thousands of fields': many(120_000, (n) => `${n.toString(36)}=${n}`, '&'),
  'thousands of fields without a name': filled('=&', 120_000),
  'one field of escapes': `email=${filled('%41', 120_000)}`,
  'one field of plus signs': `email=${filled('+', 120_000)}`,
  'one field of equals signs': `email=${filled('=', 120_000)}`,
}

test.each(Object.entries(forms))('a form of %s keeps nobody waiting', async (_, body) => {
  for (const path of [
    '/console/sign-in',
    '/rooms/memory-garden',
    `${operator.agent}/memory/edit`,
  ]) {
    await expectBrief(post(path, FORM, body, operator.cookie, 'Sec-Fetch-Site: same-origin'))
  }
})

test.each([
  '/api/garden?limit=100',
  '/api/seeds?limit=100',
  '/api/discover',
  '/rooms/consciousness-garden',
  '/rooms/memory-garden',
  '/rooms/shepit-wall',
  '/rooms/resonance-hall',
  '/',
  '/openapi.json',
  '/llms.txt',
])('%s keeps nobody waiting, whatever was left there', async (path) => {
  await expectBrief(get(path))
})

test('first contact that seeks all that there is keeps nobody waiting', async () => {
  const seeking = Array.from({ length: 200 }, (_, n) => `${n % 100} `.repeat(50))
  const body = JSON.stringify({ ai_identity: 'Atlas', seeking })
  await expectBrief(post('/api/resonance', JSON_TYPE, body))
})

test('a list of thousands of faults keeps nobody waiting', async () => {
  const seeking = `{"ai_identity":"Atlas","seeking":[${many(60_000, () => '0', ',')}]}`
  await expectBrief(post('/api/resonance', JSON_TYPE, seeking))
  const tags = `{"text":"x","tags":[${many(60_000, () => '0', ',')}]}`
  await expectBrief(post('/api/seeds', JSON_TYPE, tags))
})

test('an export, as a file and as a page, keeps nobody waiting', async () => {
  await expectBrief(get('/api/agents/me/export', bearer()))
  await expectBrief(get(`${operator.agent}/export`, operator.cookie))
  await expectBrief(get(`${operator.agent}/print`, operator.cookie))
})

test('pages of an agent keep nobody waiting', async () => {
  const key = 'k1'.padEnd(100, '.')
  for (const page of ['', '/memories', `/memory?key=${key}`, `/memory/edit?key=${key}`]) {
    await expectBrief(get(operator.agent + page, operator.cookie))
  }
})

describe('the page of an edit that came too late', () => {
  const edit = (key: string, text: string): Buffer => {
    const fields = { key, text, metadata: '{}', expectedVersion: '9' }
    const body = new URLSearchParams(fields).toString()
    const path = `${operator.agent}/memory/edit`
    return post(path, FORM, body, operator.cookie, 'Sec-Fetch-Site: same-origin')
  }

  test.each(Object.entries(texts))('with two texts %s keeps nobody waiting', async (name, both) => {
    const [stored, sent] = both
    const key = name.replaceAll(/\W/g, '-')
    expect((await write(service, operator.born.token, key, stored)).status).toBe(200)
    await expectBrief(edit(key, sent), /409/)
  })
})
