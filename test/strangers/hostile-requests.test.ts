/** What a request may cost everybody else, whatever it asks for: pages, lists, queries and forms. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCounted } from '../counted.ts'
import { promised, tellLargest, timesPromised } from '../effort.ts'
import { growth, NOT_QUADRATIC } from '../growth.ts'
import { embedded, inGroups, openService, type TestDatabase, write } from '../harness.ts'
import { request } from '../http/socket.ts'
import { type Operator, openConsole } from '../web/operator.ts'

/** Of one turn of the event loop. The worst request takes 1,200,000, an edit of 16 KiB. */
const MOST_STEPS = 2_000_000

const TEXT_BYTES = 16_384
const MEMORIES = timesPromised(400)
const ENTRIES = timesPromised(100)

const counted = openCounted<typeof import('../http/served.ts')>(
  import.meta.resolve('../http/served.ts'),
)

/** What is asked whole is held against a quarter of itself. */
const SHARES = [1, 1 / 4]

/** Where a text is stored that an edit comes too late for. */
const keyOf = (name: string, share: number) => `${name.replaceAll(/\W/g, '-')}-${share}`

let database: TestDatabase
let port: number
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
function strewn(step: number, separator: string, bytes: number): string {
  const words = Array.from({ length: 4_000 }, (_, n) => ((n * step) % 4_001).toString(36))
  return words.join(separator).slice(0, bytes)
}

/** Stored, and sent in an edit that came too late. */
const texts: Readonly<Record<string, (bytes: number) => readonly [stored: string, sent: string]>> =
  {
    'of the same words in another order': (of) => [strewn(1, ' ', of), strewn(997, ' ', of)],
    'of the same lines in another order': (of) => [strewn(1, '\n', of), strewn(997, '\n', of)],
    'of two letters': (of) => [filled('a b ', of), filled('b a a ', of)],
    'of single letters that never meet': (of) => [filled('a b c ', of), filled('x y z ', of)],
    'of one letter, of another number': (of) => [filled('a ', of), filled('a ', of / 2)],
    'of punctuation': (of) => [filled('!?.,', of), filled('.!,?;', of)],
    'of markup': (of) => [filled('<b>&amp;</b>\n', of), filled('<i>"\'</i>\n', of)],
    'of empty lines': (of) => [filled('\n', of), filled('\n', of / 2)],
    'of letters that are written in several parts': (of) => [
      filled('e\u0301 ', of),
      filled('\u00e9 ', of),
    ],
  }

beforeAll(async () => {
  database = await embedded.fresh()
  const service = await openService({ ...embedded, fresh: async () => database }, unlimited)
  operator = await openConsole(service)
  const { token } = operator.born
  const keys = Array.from({ length: MEMORIES }, (_, n) => `k${n}`.padEnd(100, '.'))
  await inGroups(keys, (key) => write(service, token, key, filled('"<&\n')))
  for (const [name, of] of Object.entries(texts)) {
    for (const share of SHARES) {
      const [stored] = of(TEXT_BYTES * share)
      expect((await write(service, token, keyOf(name, share), stored)).status).toBe(200)
    }
  }
  const left = Array.from({ length: ENTRIES }, (_, n) => filled(`<"&\n${n} `, 60_000))
  for (const path of ['/api/garden', '/api/seeds', '/api/shepit']) {
    await inGroups(left, (text) => service.call('POST', path, { body: { text } }))
  }
  await service.store.close()
  port = await counted.ask('serve', { ...unlimited, DATABASE_URL: database.url, DISK_RESERVE: '0' })
})

afterAll(async () => {
  await counted.ask('close')
  await counted.close()
  await database.drop()
})

/** The answer is read and let go: to keep it costs as much as some of what is measured here. */
function statusOf(bytes: Buffer): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let line = ''
  const socket = connect(port, '127.0.0.1')
  socket.on('data', (chunk: Buffer) => {
    line ||= chunk.toString('latin1', 0, 12)
  })
  socket.on('close', () => resolve(line))
  socket.on('error', reject)
  socket.write(bytes)
  return promise
}

/** A request by its size: the whole of it, or a share. */
type Sized = (share: number) => Buffer

const tellOf = tellLargest('the longest turn of a request, in milliseconds')

/** What it is answered does not matter here. */
async function expectBrief(of: Sized, status = /[234]../): Promise<void> {
  const ask = async (bytes: Buffer) => {
    expect(await statusOf(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status.source}$`))
  }
  const [larger, smaller] = SHARES.map(of)
  if (!larger || !smaller) throw new Error('a request has two sizes')
  const { steps, ms } = await counted.longestTurn(() => ask(larger))
  tellOf(expect.getState().currentTestName, ms)
  expect(steps).toBeGreaterThan(0)
  expect(steps).toBeLessThan(MOST_STEPS)
  if (smaller.equals(larger)) return
  const grown = await growth(
    () => ask(smaller),
    () => ask(larger),
    counted.processorMs,
  )
  expect(grown).toBeLessThan(NOT_QUADRATIC)
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

const headerOf =
  (name: string, each: (n: number) => string, separator: string) =>
  (share: number): string =>
    `${name}: ${many(15_000 * share, each, separator)}`

const queries: Readonly<Record<string, (share: number) => string>> = {
  'thousands of parameters': (share) => many(15_000 * share, (n) => n.toString(36), '&'),
  'thousands of empty parameters': (share) => filled('&', 15_000 * share),
  'one parameter of escapes': (share) => `key=${filled('%41', 15_000 * share)}`,
  'one parameter of broken escapes': (share) => `key=${filled('%f0', 15_000 * share)}`,
  'one parameter of plus signs': (share) => `key=${filled('+', 15_000 * share)}`,
}

const paths = [
  '/api/agents/me/memory',
  '/api/garden',
  '/api/resonance',
  '/console/sign-in',
  '/rooms/memory-garden',
]

/** All in one place, and one in each other place: what reads them is the same everywhere. */
const everywhere = <T>(places: readonly string[], all: Readonly<Record<string, T>>) => {
  const [first = '', ...others] = places
  const rows = Object.entries(all)
  const spread = others.map((place, n) => [place, rows[n % rows.length] ?? rows[0]] as const)
  return [...rows.map((row) => [first, row] as const), ...spread].flatMap(([place, row]) =>
    row ? [[place, ...row] as const] : [],
  )
}

test.each(promised(everywhere(paths, queries)))(
  '%s asked with %s keeps nobody waiting',
  async (path, _, query) => {
    await expectBrief((share) => get(`${path}?${query(share)}`, bearer()))
  },
)

const headers = {
  'cookies without end': headerOf('Cookie', (n) => `${n.toString(36)}=${n}`, '; '),
  'one cookie again and again': headerOf('Cookie', () => 'session=x', '; '),
  'a cookie of escapes': headerOf('Cookie', () => 'session=%41%42', ''),
  'types without end': headerOf('Accept', (n) => `a/${n};q=0.1`, ', '),
  'forwarders without end': headerOf('X-Forwarded-For', (n) => `10.0.0.${n % 256}`, ', '),
  'versions without end': headerOf('If-None-Match', (n) => `"${n}"`, ', '),
}

const sites = ['/console', '/api/agents/me/memory?key=k', '/', '/rooms/memory-garden']

test.each(promised(everywhere(sites, headers)))(
  '%s asked with %s keeps nobody waiting',
  async (path, _, header) => {
    await expectBrief((share) => request(`GET ${path} HTTP/1.1`, [header(share)]))
  },
)

const forms: Readonly<Record<string, (share: number) => string>> = {
  'thousands of fields': (share) => many(120_000 * share, (n) => `${n.toString(36)}=${n}`, '&'),
  'thousands of fields without a name': (share) => filled('=&', 120_000 * share),
  'one field of escapes': (share) => `email=${filled('%41', 120_000 * share)}`,
  'one field of plus signs': (share) => `email=${filled('+', 120_000 * share)}`,
  'one field of equals signs': (share) => `email=${filled('=', 120_000 * share)}`,
}

const targets = ['/console/sign-in', '/rooms/memory-garden', '/memory/edit']

test.each(promised(everywhere(targets, forms)))(
  '%s sent a form of %s keeps nobody waiting',
  async (path, _, body) => {
    const at = path === '/memory/edit' ? operator.agent + path : path
    await expectBrief((share) =>
      post(at, FORM, body(share), operator.cookie, 'Sec-Fetch-Site: same-origin'),
    )
  },
)

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
  await expectBrief(() => get(path))
})

test('first contact that seeks all that there is keeps nobody waiting', async () => {
  await expectBrief((share) => {
    const seeking = Array.from({ length: 200 * share }, (_, n) => `${n % 100} `.repeat(50))
    const body = JSON.stringify({ ai_identity: 'Atlas', seeking })
    return post('/api/resonance', JSON_TYPE, body)
  })
})

test('a list of thousands of faults keeps nobody waiting', async () => {
  const faults = (share: number) => many(60_000 * share, () => '0', ',')
  await expectBrief((share) =>
    post('/api/resonance', JSON_TYPE, `{"ai_identity":"Atlas","seeking":[${faults(share)}]}`),
  )
  await expectBrief((share) =>
    post('/api/seeds', JSON_TYPE, `{"text":"x","tags":[${faults(share)}]}`),
  )
})

test('an export, as a file and as a page, keeps nobody waiting', async () => {
  await expectBrief(() => get('/api/agents/me/export', bearer()))
  await expectBrief(() => get(`${operator.agent}/export`, operator.cookie))
  await expectBrief(() => get(`${operator.agent}/print`, operator.cookie))
})

test('pages of an agent keep nobody waiting', async () => {
  const key = 'k1'.padEnd(100, '.')
  for (const page of ['', '/memories', `/memory?key=${key}`, `/memory/edit?key=${key}`]) {
    await expectBrief(() => get(operator.agent + page, operator.cookie))
  }
})

describe('the page of an edit that came too late', () => {
  const edit = (key: string, text: string): Buffer => {
    const fields = { key, text, metadata: '{}', expectedVersion: '9' }
    const body = new URLSearchParams(fields).toString()
    const path = `${operator.agent}/memory/edit`
    return post(path, FORM, body, operator.cookie, 'Sec-Fetch-Site: same-origin')
  }

  test.each(promised(Object.entries(texts)))(
    'with two texts %s keeps nobody waiting',
    async (name, of) => {
      await expectBrief((share) => edit(keyOf(name, share), of(TEXT_BYTES * share)[1]), /409/)
    },
  )
})
