/** What people read: no page, and no refusal on one, speaks as the interface speaks to programs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ErrorCode, problem } from '../../src/errors.ts'
import { consoleEndpoints, roomEndpoints } from '../../src/web/index.ts'
import { sentenceFor, titleFor } from '../../src/web/layout/for-people.ts'
import { roomList } from '../../src/web/rooms/room-list.ts'
import { PASSWORD } from '../accounts.ts'
import { embedded, openService, type TestService, write } from '../harness.ts'
import { insideOf, textIn } from './markup.ts'
import { type Operator, openConsole, sendForm } from './operator.ts'

const FORBIDDEN =
  /expectedVersion|sameContent|onConflict|\/api\/|\.json\b|\.txt\b|Retry-After|If-Match|Idempotency|Authorization|Content-Type|Bearer|\bHTTP\b|\bheaders?\b|\bbody\b|\bschema\b|\bendpoint|\brequests?\b|\bquery\b|\bUTF-8\b|\bGET\b|\bPOST\b|\bDELETE\b|\b[45]\d\d\b|[A-Z]{4,}_[A-Z_]+|give birth|\bborn\b/

/** Programs of pages, and whoever runs the service, are spoken to in their own words. */
const OTHERS: readonly ErrorCode[] = ['invalid_last_event_id', 'origin_denied']

const codes = [...consoleEndpoints, ...roomEndpoints].flatMap(({ errors }) => errors)

let service: TestService
let operator: Operator
beforeAll(async () => {
  service = await openService(embedded)
  operator = await openConsole(service, { name: 'Atlas' })
  await write(service, operator.born.token, 'plan', 'one')
  await write(service, operator.born.token, 'plan', 'two', 1)
})
afterAll(() => service.close())

describe('a refusal', () => {
  const shown = [...new Set<ErrorCode>([...codes, 'internal', 'stopping'])]

  test.each(shown.filter((code) => !OTHERS.includes(code)))('%s is said to people', (code) => {
    expect(`${titleFor({ code })} ${sentenceFor(problem(code))}`).not.toMatch(FORBIDDEN)
  })

  test('says how long to wait', () => {
    const waitFor = (seconds: string) =>
      sentenceFor(problem('rate_limited', { headers: { 'Retry-After': seconds } }))
    expect([waitFor('1'), waitFor('40'), waitFor('900')]).toEqual([
      'Nothing was changed. Try again in 1 second.',
      'Nothing was changed. Try again in 40 seconds.',
      'Nothing was changed. Try again in 15 minutes.',
    ])
    expect(sentenceFor(problem('overloaded'))).toBe('Nothing was changed. Try again in a moment.')
  })

  test('a page’s own sentence comes first, but not what programs are told', () => {
    const detail = 'Said for programs.'
    expect(sentenceFor(problem('not_found', { detail }))).toBe(detail)
    expect(sentenceFor(problem('rate_limited', { detail }))).not.toBe(detail)
  })
})

describe('a page', () => {
  /** Snippets are for programs, and stand in a <pre>; one way to connect is named by its protocol. */
  const read = (page: string): string =>
    textIn((insideOf(page, 'main')[0] ?? page).replace(/<pre.*?<\/pre>|Plain HTTP/gs, ''))

  const refusedBy = (path: string, fields: Readonly<Record<string, string>> = {}) =>
    operator.post(path, fields).then(({ text }) => text)

  const pages = consoleEndpoints
    .filter(({ method, path }) => method === 'GET' && path.startsWith('/console'))
    .map(({ path }) => path)
    // Its panels speak of the files and variables of programs.
    .filter((path) => !/\/(export|events|download|connect\/:client)$/.test(path))

  const at = (path: string): string => {
    const here = path.replace('/console/agents/:agent', operator.agent)
    return /memory(\/\w+)?$/.test(here) ? `${here}?key=plan` : here
  }

  test.each(pages)('%s has no word of the interface', async (path) => {
    expect(read((await operator.get(at(path))).text)).not.toMatch(FORBIDDEN)
  })

  test.each(roomList)('$id neither', async ({ id }) => {
    expect(read((await operator.get(`/rooms/${id}`)).text)).not.toMatch(FORBIDDEN)
  })

  test('nor has one that refuses what was sent', async () => {
    const { agent } = operator
    const refused = [
      await refusedBy('/console/birth'),
      await refusedBy('/console/attach', { token: 'aho_none', password: PASSWORD }),
      await refusedBy('/console/account/password'),
      await refusedBy('/console/account/delete'),
      await refusedBy(`${agent}/keys`),
      await refusedBy(`${agent}/key`),
      await refusedBy(`${agent}/profile`),
      await refusedBy(`${agent}/memory/new`, { key: 'plan', text: 'x', metadata: '' }),
      await refusedBy(`${agent}/memory/edit`, { key: 'plan', text: 'x'.repeat(16_385) }),
      await refusedBy(`${agent}/memory/edit`, { key: 'none', text: 'x', expectedVersion: '1' }),
      await refusedBy(`${agent}/memory/rename`, { key: 'plan', to: '?', expectedVersion: '2' }),
      await refusedBy(`${agent}/memory/erase`, { key: 'plan', versions: 'all', typed: '' }),
      await refusedBy(`${agent}/memory/restore`, { key: 'plan', version: '9' }),
      (await sendForm(service, '/rooms/shepit-wall', { text: '' })).text,
      (await operator.get(`${agent}/memory?key=never`)).text,
      (await operator.get(`${agent}/memory?key=plan&version=7`)).text,
      (await operator.get(`${agent}/nowhere`)).text,
      (await operator.get('/console/agents/nobody')).text,
      (await operator.get('/nowhere')).text,
    ]
    for (const page of refused) expect(read(page)).not.toMatch(FORBIDDEN)
  })
})

describe('what was not found', () => {
  const shown = async (path: string) => {
    const { status, text, headers } = await operator.get(path)
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
    return text
  }

  test('in an agent’s home keeps the agent, its name and its navigation', async () => {
    const text = await shown(`${operator.agent}/memory?key=never`)
    expect(text).toContain('<title>never · Atlas · Agent Home</title>')
    for (const link of [`${operator.agent}/memories`, `${operator.agent}/keys`, '/console']) {
      expect(text).toContain(`href="${link}"`)
    }
    expect(text).toContain('Sign out')
  })

  test('is kept by no browser where there is no such page either', async () => {
    expect(await shown(`${operator.agent}/nowhere`)).toContain('<title>')
    expect(await shown('/console/nowhere')).toContain(operator.email)
  })

  test('nor is the navigation lost where everything is read on one page', async () => {
    const { text } = await operator.get(`${operator.agent}/print`)
    expect(text).toContain('<title>Everything · Atlas · Agent Home</title>')
    expect(insideOf(text, 'nav').length).toBe(3)
    const time = '\\d+ \\w{3} \\d{4}, \\d\\d:\\d\\d UTC'
    expect(textIn(text)).toMatch(new RegExp(`written ${time} · created ${time}`))
    expect(textIn(text)).toMatch(new RegExp(`1 memory as of ${time}`))
    expect(text).toMatch(
      /<pre class="text" dir="auto">two<\/pre>[\s\S]*<\/footer>\n<\/body>\n<\/html>$/,
    )
  })

  test('of another’s agent says nothing of it, and leads to one’s own', async () => {
    const other = await openConsole(service, { name: 'Secret' })
    const text = await shown(`${other.agent}/memory?key=never`)
    expect(text).not.toContain('Secret')
    expect(text).toContain('Sign out')
    expect(text).toContain('<a class="button quiet" href="/console">To your agents</a>')
  })
})

test('what an address asks for and cannot be is told with its name', async () => {
  const { status, text } = await operator.get(`${operator.agent}/memory?key=a%20b&version=0`)
  expect(status).toBe(400)
  expect(text).toContain(
    '<ul><li><bdi>key</bdi> must be 1 to 100 letters, digits, underscores, dots or hyphens.</li><li><bdi>version</bdi> must be from 1 to 9007199254740991.</li></ul>',
  )
})
