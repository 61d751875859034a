/** Whatever an agent is called and keeps, the console's pages hold it as text. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { consoleEndpoints } from '../../src/web/index.ts'
import { embedded, memoryPath, openService, type TestService } from '../harness.ts'
import { escaped } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const hostile = (name: string): string => `</title></pre><${name} x="1">'&amp;`

const NAME = hostile('named')
const PURPOSE = hostile('meant')
const TEXT = hostile('kept')
const METADATA = { noted: '<noted>' }

let service: TestService
let operator: Operator
let entry: string
beforeAll(async () => {
  service = await openService(embedded, { PUBLIC_URL: 'https://home.example' })
  operator = await openConsole(service, { name: NAME, purpose: PURPOSE })
  const body = { key: 'plan', text: TEXT, metadata: METADATA, expectedVersion: 0 }
  await service.call('POST', memoryPath, { token: operator.born.token, body })
  await service.store.setAdmin(operator.email, true)
  const left = await service.call('POST', '/api/shepit', { body: { text: TEXT, identity: NAME } })
  entry = (left.body.whisper as { id: string }).id
})
afterAll(() => service.close())

const pages = consoleEndpoints
  .filter(
    ({ method, path }) =>
      method === 'GET' && /^\/console(?!.*\/(export|events|download|recover)$)/.test(path),
  )
  .map(({ path, operationId }) => ({ path, operationId }))

const shown = async (path: string): Promise<string> => {
  const at = path
    .replace('/console/agents/:agent', operator.agent)
    .replace(':client', 'claude-code')
    .replace('/entries/remove', `/entries/remove?entry=${entry}`)
  const { status, text } = await operator.get(/memory(\/\w+)?$/.test(at) ? `${at}?key=plan` : at)
  // A link that was never given is void, and so is a page that no program led to.
  const void_ = { '/console/recover': 410, '/console/consent': 400 }[at]
  expect(void_ ? [void_] : [200, 303]).toContain(status)
  return text
}

test.each(pages)('$operationId shows nothing as markup', async ({ path }) => {
  const text = await shown(path)
  expect(text).not.toMatch(/<(named|meant|kept|noted)/)
})

test.each([
  ['/console', [NAME, PURPOSE]],
  ['/console/agents/:agent', [NAME, PURPOSE]],
  ['/console/agents/:agent/erase', [NAME]],
  ['/console/entries/remove', [NAME, TEXT]],
  ['/console/agents/:agent/memory', [TEXT, METADATA.noted]],
  ['/console/agents/:agent/memories', [TEXT]],
  ['/console/agents/:agent/memory/edit', [TEXT, JSON.stringify(METADATA)]],
  ['/console/agents/:agent/print', [NAME, PURPOSE, TEXT, METADATA.noted]],
])('%s shows all of what it is about', async (path, texts) => {
  const text = await shown(path)
  for (const each of texts) expect(text).toContain(escaped(each))
})

test('the agent’s page is titled by its name, as text', async () => {
  expect(await shown('/console/agents/:agent')).toContain(
    `<title>${escaped(NAME)} · Agent Home</title>`,
  )
})

test('a refusal repeats what was sent as text', async () => {
  const { text } = await operator.get('/console/nowhere?%3Cnamed%3E')
  expect(text).not.toContain('<named>')
  const refused = await operator.post(`${operator.agent}/status`, { status: '<named>' })
  expect([refused.status, refused.text.includes('<named>')]).toEqual([400, false])
})

test('a sign-in and a birth that are refused repeat what was typed as text', async () => {
  const typed = { email: NAME, password: 'x', name: TEXT, purpose: PURPOSE, next: NAME }
  for (const path of ['/console/sign-in', '/console/birth']) {
    const { status, text } = await operator.post(path, typed)
    expect(status).toBeGreaterThanOrEqual(400)
    expect(text).not.toMatch(/<(named|meant|kept)/)
    expect(text).toContain(escaped(path.endsWith('birth') ? PURPOSE : NAME))
  }
})
