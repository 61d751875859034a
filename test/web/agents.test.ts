/** The agents of an account, and the page of one: what they do, and what needs attention. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embedded, memoryPath, openService, type TestService, write } from '../harness.ts'
import { insideOf, linksIn, textIn } from './markup.ts'
import { type Operator, openConsole } from './operator.ts'

let service: TestService
beforeAll(async () => {
  service = await openService(embedded, {
    MEMORIES_PER_AGENT: '10',
    READS_PER_MINUTE: '20',
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  })
})
afterAll(() => service.close())

const read = ({ born }: Operator, key: string) =>
  service.call('GET', `${memoryPath}?key=${key}`, { token: born.token })

const cellsIn = (page: string): string[] =>
  insideOf(insideOf(page, 'tbody').join(), 'td').map((cell) => textIn(cell).trim())

/** Of the agents that a page lists. */
const namesIn = (page: string): string[] =>
  insideOf(insideOf(page, 'tbody').join(), 'th').map(
    (cell) => textIn(cell).trim().split('\n')[0] ?? '',
  )

const statsIn = (page: string): string[] =>
  insideOf(page, 'dd').map((each) => textIn(each).replace(/\s+/g, ' ').trim())

describe('the agents', () => {
  test('each has its status, what happened today, its memories, and when it was seen', async () => {
    const operator = await openConsole(service)
    await write(service, operator.born.token, 'plan', 'x')
    await read(operator, 'plan')
    await read(operator, 'plan')
    const { text } = await operator.get('/console')
    expect(cellsIn(text)).toEqual(['Active', '1 write, 2 reads', '1', 'just now'])
    service.tick(86_400_000)
    const later = await openAgain(operator)
    expect(cellsIn(later)).toEqual(['Active', 'nothing', '1', 'yesterday'])
  })

  /** A session ends after a day; the account stays. */
  async function openAgain({ email }: Operator): Promise<string> {
    const fields = new URLSearchParams({ email, password: 'correct horse battery' })
    const { headers } = await service.call('POST', '/console/sign-in', {
      body: fields.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    return (await service.call('GET', '/console', { headers: { accept: 'text/html', cookie } }))
      .text
  }

  test('one that nobody has connected was not seen yet', async () => {
    const operator = await openConsole(service)
    const { text } = await operator.get('/console')
    expect(cellsIn(text)).toEqual(['Active', 'nothing', '0', 'not yet'])
  })

  test('what needs attention is marked: conflicts, refused calls, little room, a pause', async () => {
    const operator = await openConsole(service)
    const { token } = operator.born
    for (let n = 0; n < 8; n++) await write(service, token, `k${n}`, 'x')
    await write(service, token, 'k1', 'too late', 9)
    await operator.post(`${operator.agent}/status`, { status: 'paused' })
    await write(service, token, 'k1', 'paused', 1)
    const { text } = await operator.get('/console')
    expect(cellsIn(text)[0]?.replace(/\s+/g, ' ')).toBe('Paused Nearly full 1 refused 1 conflict')
  })

  test('one that is attached is one more among them, however often it is attached', async () => {
    const operator = await openConsole(service)
    const orphan = await service.birth({ name: 'Orphan' })
    // Agents that are born in one millisecond come in either order.
    const listed = async () => namesIn((await operator.get('/console')).text).toSorted()
    expect(await listed()).toEqual(['Atlas'])
    for (let times = 0; times < 2; times++) {
      const { status, headers } = await operator.post('/console/attach', {
        token: orphan.operatorToken,
      })
      const at = `/console/agents/${orphan.agentId}`
      expect([status, headers.get('location')]).toEqual([303, at])
      expect(await listed()).toEqual(['Atlas', 'Orphan'])
    }
    const other = await openConsole(service)
    const taken = await other.post('/console/attach', { token: orphan.operatorToken })
    expect(taken.status).toBe(409)
    expect(taken.text).toContain('An agent can belong to only one account.')
    expect(namesIn((await other.get('/console')).text)).toEqual(['Atlas'])
  })

  test('fifty are on a page, and the rest behind it', async () => {
    const operator = await openConsole(service)
    const attach = async () => {
      const { operatorToken } = await service.birth()
      await operator.post('/console/attach', { token: operatorToken })
    }
    const isAboutSome = async () =>
      (await operator.get('/console/search?q=anything')).text.includes(
        'The first 20 of your agents were searched.',
      )
    for (let agents = 1; agents < 20; agents++) await attach()
    expect(await isAboutSome()).toBe(false)
    await attach()
    expect(await isAboutSome()).toBe(true)
    for (let agents = 21; agents < 50; agents++) await attach()
    const full = (await operator.get('/console')).text
    expect(namesIn(full)).toHaveLength(50)
    expect(full).not.toContain('More agents')
    await attach()
    const first = (await operator.get('/console')).text
    expect(namesIn(first)).toHaveLength(50)
    const [next = ''] = linksIn(first).filter((to) => to.includes('?after='))
    const behind = async () => cellsIn((await operator.get(next)).text)[0]
    expect(namesIn((await operator.get(next)).text)).toHaveLength(1)
    // One switch is for all, on whatever page they are.
    for (const [status, shown] of [
      ['paused', 'Paused'],
      ['active', 'Active'],
    ] as const) {
      await operator.post('/console/pause', { status })
      expect(await behind()).toBe(shown)
    }
  })

  test('behind the last of them are none', async () => {
    const operator = await openConsole(service)
    const { text } = await operator.get('/console?after=ffffffff')
    expect(text).toContain('No agent is in this account yet.')
  })
})

describe('the page of one agent', () => {
  test('says what it did today, beside its name, its status and its tabs', async () => {
    const operator = await openConsole(service)
    await write(service, operator.born.token, 'plan', 'four')
    await write(service, operator.born.token, 'plan', 'too late', 7)
    await read(operator, 'plan')
    const { text } = await operator.get(operator.agent)
    expect(statsIn(text)).toEqual(['just now', '1 6 bytes', '1', '1', '1', '0'])
    const [, , tabs = ''] = insideOf(text, 'nav')
    expect(linksIn(tabs)).toEqual(
      ['', '/memories', '/activity', '/connect', '/keys', '/settings'].map(
        (tab) => operator.agent + tab,
      ),
    )
    expect(tabs.match(/aria-current="page"/g)).toHaveLength(1)
    expect(insideOf(text, 'h1').map(textIn)).toEqual(['Atlas'])
  })

  test('names the five programs that called last, and says how many did', async () => {
    const operator = await openConsole(service)
    await write(service, operator.born.token, 'plan', 'x')
    const call = async (name: string) => {
      const made = await service.call('POST', '/api/agents/me/keys/named', {
        token: operator.born.operatorToken,
        body: { name, access: 'read' },
      })
      service.tick(1_000)
      await service.call('GET', '/api/agents/me', { token: String(made.body.token) })
    }
    const programs = async () => {
      const { text } = await operator.get(operator.agent)
      return /<div id="programs".*?<\/div>/s.exec(text)?.[0] ?? ''
    }
    for (const name of ['one', 'two', 'three', 'four', 'five']) await call(name)
    expect(insideOf(await programs(), 'bdi')).toEqual(['five', 'four', 'three', 'two', 'one'])
    expect(await programs()).not.toContain('that were used')
    await call('six')
    expect(insideOf(await programs(), 'bdi')).toEqual(['six', 'five', 'four', 'three', 'two'])
    expect(await programs()).toContain('All 6 that were used')
  })

  test('the last thirty days are drawn, and told in words', async () => {
    const operator = await openConsole(service)
    for (let n = 0; n < 3; n++) await write(service, operator.born.token, `k${n}`, 'x')
    const { text } = await operator.get(operator.agent)
    const [plot = '', ...others] = insideOf(text, 'figure')
    expect(others).toEqual([])
    expect(textIn(insideOf(plot, 'figcaption').join())).toBe('Writes 3, at most 3 a day')
    expect(plot).toContain('<path d="M291 80v-80.0h8V80z"/>')
  })

  test('a limit is named only where it is near', async () => {
    const operator = await openConsole(service)
    const { token } = operator.born
    await write(service, token, 'k0', 'x')
    expect((await operator.get(operator.agent)).text).not.toMatch(/of at most|in a minute/)
    for (let n = 1; n < 10; n++) await write(service, token, `k${n}`, 'x')
    for (let n = 0; n < 17; n++) await read(operator, 'k0')
    const { text } = await operator.get(operator.agent)
    expect(text).toContain('It has 10 of at most 10 memories: delete some')
    expect(text).toContain('It made 17 of the 20 reads allowed per minute.')
  })

  test('what needs attention is one list: a sentence for each, and the way to mend it', async () => {
    const operator = await openConsole(service)
    const { agent, born } = operator
    expect((await operator.get(agent)).text).not.toContain('Needs attention')
    for (let n = 0; n < 8; n++) await write(service, born.token, `k${n}`, 'x')
    await write(service, born.token, 'k1', 'too late', 9)
    await operator.post(`${agent}/status`, { status: 'paused' })
    await write(service, born.token, 'k1', 'paused', 1)
    const { text } = await operator.get(agent)
    const [list = '', ...others] = insideOf(text, 'section').filter((each) =>
      each.includes('Needs attention'),
    )
    expect(others).toEqual([])
    const items = list.split('<li class=').slice(1)
    expect(items.map((each) => textIn(`<li ${each}`).split(' ').slice(0, 4).join(' '))).toEqual([
      'It has 8 of',
      '1 call of its',
      '1 conflicting write rejected',
    ])
    expect(items.map(linksIn)).toEqual([
      [`${agent}/memories?order=oldest`, `${agent}/memories?order=size`],
      ['/problems/agent_paused'],
      [`${agent}/activity`],
    ])
  })

  test('the switch asks, says what it means, and leads back to the page on which it was', async () => {
    const operator = await openConsole(service)
    const { agent } = operator
    const { text } = await operator.get(`${agent}/activity?before=9`)
    expect(text).toMatch(/<dialog closedby="any" id="switch"/)
    expect(text).toContain(`name="back" value="${agent}/activity?before=9"`)
    const paused = await operator.post(`${agent}/status`, {
      status: 'paused',
      back: `${agent}/activity?before=9`,
    })
    expect([paused.status, paused.headers.get('location')]).toEqual([
      303,
      `${agent}/activity?before=9`,
    ])
    expect((await operator.get(agent)).text).toContain('<span class="status paused">Paused</span>')
  })

  test.each(['https://elsewhere.example/', '//elsewhere.example', '/rooms', ''])(
    'the switch leads to no other place: not to %j',
    async (back) => {
      const operator = await openConsole(service)
      const { headers } = await operator.post(`${operator.agent}/status`, {
        status: 'active',
        back,
      })
      expect(headers.get('location')).toBe(operator.agent)
    },
  )
})

/** Without what a browser has kept since the first page. */
async function weigh(page: string): Promise<number> {
  const parts = [...page.matchAll(/ (?:src|href)="(\/assets\/[^"]*)"/g)].map(
    ([, path = '']) => path,
  )
  const texts = await Promise.all(parts.map(async (path) => (await service.call('GET', path)).text))
  return [page, ...texts].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

test('no page weighs more than 60 KB, stylesheet and scripts included', async () => {
  const operator = await openConsole(service)
  const { agent, born } = operator
  const key = 'k'.repeat(100)
  for (let n = 0; n < 60; n++) await write(service, born.token, key, `${n}`, n)
  const tabs = [
    '',
    '/activity',
    '/connect',
    '/connect/langgraph',
    '/keys',
    '/settings',
    '/memories',
    '/erase',
  ]
  const paths = ['/console', '/console/birth', ...tabs.map((tab) => agent + tab)]
  const heavy: string[] = []
  for (const path of paths) {
    const weight = await weigh((await operator.get(path)).text)
    expect(weight).toBeGreaterThan(20_000)
    if (weight > 60_000) heavy.push(`${path}: ${weight}`)
  }
  expect(heavy).toEqual([])
})

describe('an agent that has not written yet', () => {
  test('waits for it, and leads to the clients that can be connected', async () => {
    const operator = await openConsole(service)
    const { text } = await operator.get(operator.agent)
    expect(text).toContain('Waiting for its first write…')
    expect(linksIn(text)).toContain(`${operator.agent}/connect/claude-code`)
    expect(text).not.toContain(operator.born.token)
    expect(text).toContain(`data-from="${operator.agent}?first"`)
  })

  test('once it has, the page is told by its stream, and asks for the news', async () => {
    const operator = await openConsole(service)
    await write(service, operator.born.token, 'plan', 'x')
    const { text } = await operator.get(`${operator.agent}?first`)
    const found = /id="first-write" data-live role="status">(.*?)<\/div>/s.exec(text)?.[1] ?? ''
    expect(textIn(found)).toContain('The first memory is here: plan.')
    expect((await operator.get(operator.agent)).text).not.toContain('first-write')
  })
})
