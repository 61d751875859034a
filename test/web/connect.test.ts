/** Connecting a client at the console: its key, its text, and the first call. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, clients } from '../../src/web/console/agent/clients.ts'
import { embedded, openService, type TestService } from '../harness.ts'
import { fieldsIn, insideOf, linksIn, scriptsIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

const unlimited = {
  CONTROLS_PER_MINUTE: '9999',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  FAILURES_PER_MINUTE: '0',
}

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, unlimited)
})
afterAll(() => service.close())

const panelOf = ({ agent }: Operator, id: string): string => `${agent}/connect/${id}`

const keyed = clients.filter(({ signsIn }) => !signsIn)

/** The form as it stands on its page, with what was changed. */
async function connects(operator: Operator, id: string, changed = {}) {
  const { text } = await operator.get(panelOf(operator, id))
  return operator.post(panelOf(operator, id), { ...fieldsIn(text), ...changed })
}

const tokenIn = (page: string): string => /aha_\w{49}/.exec(page)?.[0] ?? ''

const callIn = (page: string): string =>
  textIn(/id="first-call" data-live role="status">(.*?)<\/div>/s.exec(page)?.[1] ?? '').trim()

/** A use is recorded beside the call that it is. */
const shows = (operator: Operator, path: string, words: RegExp) =>
  expect.poll(async () => callIn((await operator.get(path)).text)).toMatch(words)

const nextIn = (page: string): string => linksIn(page).find((link) => link.includes('?key=')) ?? ''

test('every client has its place, and a panel at an address of its own', async () => {
  const operator = await openConsole(service)
  const { text } = await operator.get(`${operator.agent}/connect`)
  const panels = clients.map(({ id }) => panelOf(operator, id))
  expect(linksIn(text).filter((link) => link.includes('/connect/'))).toEqual(panels)
  expect(clients.map(({ name }) => name)).toEqual([
    ...['Claude Code', 'Claude Desktop', 'claude.ai', 'ChatGPT', 'Cursor', 'VS Code', 'Codex'],
    ...['LangGraph', 'Anthropic SDK', 'OpenAI Agents', 'AI SDK', 'JavaScript'],
    ...['Plain HTTP', 'A folder'],
  ])
  for (const [at, { name }] of clients.entries()) {
    const { status, text: panel } = await operator.get(panels[at] ?? '')
    expect([status, insideOf(panel, 'h1')]).toEqual([200, [name]])
  }
  expect((await operator.get(`${operator.agent}/connect/none`)).status).toBe(404)
})

describe.each(keyed)('$name', ({ id, name, steps }: Client) => {
  test('one button makes its key, and shows once what to copy', async () => {
    const operator = await openConsole(service)
    const { status, text } = await connects(operator, id)
    const token = tokenIn(text)
    const place = { url: 'http://127.0.0.1:8787', token }
    const texts = steps(place).flatMap((step) => step.text ?? [])
    expect(status).toBe(200)
    expect(insideOf(text, 'pre').map(textIn)).toEqual(texts)
    expect(texts.join('\n')).toContain(token)
    const { body } = await service.call('GET', '/api/agents/me/keys', {
      token: operator.born.operatorToken,
    })
    expect(body.keys).toMatchObject([{ name, access: 'write', prefix: null, expiresAt: null }])
    const again = await operator.get(nextIn(text))
    expect(again.text).not.toContain(token)
    expect(again.text).toContain('aha_…')
  })

  test('puts no token where others read it: an address, or the words of a command', async () => {
    const all = steps({ url: 'https://home.example', token: 'aha_secret' })
    for (const { name, text = '' } of all) {
      expect(text).not.toMatch(/https?:\S*aha_secret/)
      if (['shell', 'installation'].includes(name ?? '')) expect(text).not.toContain('aha_secret')
    }
  })
})

describe('the first call', () => {
  test('is waited for, and turns the panel green, by a call that only reads', async () => {
    const operator = await openConsole(service)
    const { text } = await connects(operator, 'cursor')
    expect(callIn(text)).toBe('Waiting for the first call of “Cursor”…')
    // A script looks there, and a reload leads there.
    const next = nextIn(text)
    expect(text).toContain(`data-from="${next}"`)
    expect(text).toContain('data-shown-once')
    expect(scriptsIn(text)).toEqual([
      'copy',
      'shown',
      'follow',
      'dialogs',
      'keyboard',
      'ticking',
      'zone',
    ])
    const before = await operator.get(next)
    expect(before.text).toContain('data-looks="3"')
    await service.call('GET', '/api/agents/me', { token: tokenIn(text) })
    await shows(operator, next, /^“Cursor” is connected\. It called just now\./)
    expect((await operator.get(next)).text).not.toContain('data-looks')
  })

  test('is looked for less often where nobody hurries', async () => {
    const operator = await openConsole(service)
    const { text } = await connects(operator, 'cursor')
    const paths = [nextIn(text), `${panelOf(operator, 'chatgpt')}?since=${service.now()}`]
    const looks = () =>
      Promise.all(
        paths.map(async (path) => /data-looks="(\d+)"/.exec((await operator.get(path)).text)?.[1]),
      )
    expect(await looks()).toEqual(['3', '3'])
    service.tick(10 * 60_000)
    expect(await looks()).toEqual(['60', '60'])
  })

  test('of another key changes nothing', async () => {
    const operator = await openConsole(service)
    const { text } = await connects(operator, 'cursor')
    const other = await connects(operator, 'codex')
    await service.call('GET', '/api/agents/me', { token: tokenIn(other.text) })
    expect(callIn((await operator.get(nextIn(text))).text)).toMatch(/^Waiting/)
  })

  test('with a key that has ended, the panel begins anew', async () => {
    const operator = await openConsole(service)
    const { text } = await connects(operator, 'cursor')
    const next = nextIn(text)
    const [, id = ''] = next.split('key=')
    await operator.post(`${operator.agent}/keys/end`, { id })
    expect((await operator.get(next)).text).toContain('Make a key and show the text')
  })
})

describe('the key', () => {
  test('may do what was chosen, and no more', async () => {
    const operator = await openConsole(service)
    const bounds = { name: 'My editor', access: 'read', prefix: 'notes.' }
    const { text } = await connects(operator, 'vs-code', bounds)
    const { body } = await service.call('GET', '/api/agents/me/keys', {
      token: operator.born.operatorToken,
    })
    expect(body.keys).toMatchObject([bounds])
    expect(callIn(text)).toContain('“My editor”')
  })

  test('is made once, even if the form is sent twice', async () => {
    const operator = await openConsole(service)
    const page = await operator.get(panelOf(operator, 'cursor'))
    const fields = fieldsIn(page.text)
    const answers = [
      await operator.post(panelOf(operator, 'cursor'), fields),
      await operator.post(panelOf(operator, 'cursor'), fields),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 409])
  })

  test('is refused beside its field, which is open then', async () => {
    const operator = await openConsole(service)
    const { status, text } = await connects(operator, 'cursor', { prefix: '<kept>' })
    expect(status).toBe(400)
    expect(text).toContain('id="prefix-fault"')
    expect(text).toContain('<details class="fold" open>')
    expect(fieldsIn(text).name).toBe('Cursor')
  })
})

describe.each(clients.filter(({ signsIn }) => signsIn))('$name', ({ id }) => {
  test('takes the address alone: no key is made, and no button would', async () => {
    const operator = await openConsole(service)
    const { text } = await operator.get(panelOf(operator, id))
    expect(insideOf(text, 'pre')).toEqual(['http://127.0.0.1:8787/mcp'])
    expect(text).not.toContain('name="access"')
    expect(textIn(text)).toContain('public address with https, set as PUBLIC_URL')
  })

  test('waits for the key that its signing in makes, and for that alone', async () => {
    const operator = await openConsole(service)
    const before = await connects(operator, 'cursor')
    await service.call('GET', '/api/agents/me', { token: tokenIn(before.text) })
    service.tick(1_000)
    const { text } = await operator.get(panelOf(operator, id))
    expect(callIn(text)).toMatch(/^Waiting for it to sign in…/)
    const [, from = ''] = /data-from="([^"]*)"/.exec(text) ?? []
    const made = await service.call('POST', '/api/agents/me/keys/named', {
      token: operator.born.operatorToken,
      body: { name: 'Signed in', access: 'read' },
    })
    expect(callIn((await operator.get(from)).text)).toMatch(/^Waiting for the first call of “Sig/)
    await service.call('GET', '/api/agents/me', { token: String(made.body.token) })
    await shows(operator, from, /^“Signed in” is connected\./)
  })
})

test('with a public address over https, texts name it, and no panel warns', async () => {
  const PUBLIC_URL = 'https://home.example'
  const secure = await openService(embedded, { ...unlimited, PUBLIC_URL })
  const operator = await openConsole(secure)
  for (const { id } of clients) {
    const { text } = await operator.get(panelOf(operator, id))
    expect(insideOf(text, 'pre').map(textIn).join('\n')).toContain(PUBLIC_URL)
    expect(text).not.toContain('It cannot reach this service')
  }
  await secure.close()
})

describe('what leads there', () => {
  test('a new key, whose first call each panel then waits for', async () => {
    const operator = await openConsole(service)
    const { turn = '' } = fieldsIn((await operator.get(`${operator.agent}/keys`)).text)
    const key = { turn, name: 'Nightly', access: 'read', prefix: '', expiresAt: '' }
    const { text } = await operator.post(`${operator.agent}/keys`, key)
    const list = await operator.get(nextIn(text))
    const [first = ''] = linksIn(list.text).filter((link) => link.includes('/connect/'))
    expect(callIn((await operator.get(first)).text)).toContain('“Nightly”')
  })

  test('a rotated token', async () => {
    const operator = await openConsole(service)
    const { turn = '' } = fieldsIn((await operator.get(`${operator.agent}/keys`)).text)
    const { text } = await operator.post(`${operator.agent}/key`, { turn, understood: 'yes' })
    const [main = ''] = insideOf(text, 'main')
    expect(main).toContain('id="agent-token"')
    expect(linksIn(main)).toContain(`${operator.agent}/connect`)
  })
})
