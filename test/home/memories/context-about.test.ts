/** GET /api/agents/me/context with `about`: one request wakes an agent for its task. */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Answer,
  appBeside,
  ask,
  type Born,
  embedded,
  engines,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'

const pathOf = (about: string): string => `/api/agents/me/context?${new URLSearchParams({ about })}`

const TASK = 'Copy the tables of the shop'

const LONG = `The shop has 40 tables. ${'They are large. '.repeat(60)}`

const keysOf = (list: unknown): string[] => (list as { key: string }[]).map(({ key }) => key)

describe.each(engines)('a context about a task on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    born = await service.birth()
    const pin = { key: 'who', text: 'I keep the shop.', metadata: { pinned: true } }
    const body = { ...pin, expectedVersion: 0 }
    await service.call('POST', memoryPath, { token: born.token, body })
    await write(service, born.token, 'shop.tables', LONG)
    await write(service, born.token, 'tables.copy', 'Copy with COPY, table by table.')
    await write(service, born.token, 'weather', 'Rain.')
  })

  const contextOf = (token: string, about: string) => service.call('GET', pathOf(about), { token })

  test('has what is known about it whole, best first, and each memory once', async () => {
    const { status, body } = await contextOf(born.token, TASK)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      pinned: [{ key: 'who' }],
      found: [
        { key: 'tables.copy', text: 'Copy with COPY, table by table.', version: 1 },
        { key: 'shop.tables', text: LONG },
      ],
      changes: [{ key: 'weather' }],
      leftOut: { purpose: false, pinned: 0, found: 0, memories: 0 },
    })
    const { body: without } = await service.call('GET', '/api/agents/me/context', born)
    expect(without.found).toEqual([])
    expect(keysOf(without.changes)).toEqual(['weather', 'tables.copy', 'shop.tables'])
  })

  test('needs nothing to stand as it is quoted', async () => {
    for (const about of ['They said: "copy all tables!"', '„Tabellen“ und «tables»', '"tables']) {
      expect(keysOf((await contextOf(born.token, about)).body.found)).toContain('tables.copy')
    }
    expect((await contextOf(born.token, '""')).body.found).toEqual([])
  })

  test('shows a key with a prefix what it reaches, and a paused agent nothing', async () => {
    const { body } = await service.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'in', access: 'read', prefix: 'tables.' },
    })
    const { body: seen } = await contextOf(String(body.token), TASK)
    expect(seen).toMatchObject({ pinned: [], found: [{ key: 'tables.copy' }], changes: [] })
    expect(JSON.stringify(seen)).not.toContain('40 tables')
    const paused = { token: born.operatorToken, body: { status: 'paused' } }
    await service.call('PATCH', '/api/agents/me', paused)
    expectProblem(await contextOf(born.token, TASK), 'agent_paused')
  })

  test('says which words of it no memory has', async () => {
    const { body } = await contextOf(born.token, 'Copy the tables of the ZEBRA')
    expect(body.missing).toEqual(['zebra'])
    expect((await contextOf(born.token, TASK)).body.missing).toEqual([])
    for (const path of ['/api/agents/me/context', pathOf('')]) {
      expect((await service.call('GET', path, born)).body).not.toHaveProperty('missing')
    }
  })

  test('has what is beside, where it is not shown elsewhere', async () => {
    for (const [n, text] of ['Who?', 'The zebra.', 'When?', 'zebras'].entries()) {
      await write(service, born.token, `talk.${n}`, text)
    }
    const ask = (query: string) =>
      service.call('GET', `${pathOf('zebra')}${query}`, { token: born.token })
    const { body } = await ask('&around=1')
    const updatedAt = expect.stringMatching(/^20.*Z$/)
    const beside = (n: number, text: string) => ({ key: `talk.${n}`, version: 1, updatedAt, text })
    expect(body.found).toEqual([
      { ...beside(1, 'The zebra.'), before: [beside(0, 'Who?')], after: [beside(2, 'When?')] },
      beside(3, 'zebras'),
    ])
    expect(keysOf(body.changes)).toEqual(['weather', 'tables.copy', 'shop.tables'])
    expect(body.leftOut).toEqual({ purpose: false, pinned: 0, found: 0, memories: 0 })
    for (const query of ['', '&around=0']) {
      const { body: alone } = await ask(query)
      expect(alone.found).toEqual([beside(1, 'The zebra.'), beside(3, 'zebras')])
    }
  })

  test('leaves out first what is beside, and stays within its bytes', async () => {
    const near = 'Nothing of it. '.repeat(26)
    for (let n = 0; n < 12; n++) {
      await write(service, born.token, `talk.${n}`, n % 2 > 0 ? near : `zebra ${n}`)
    }
    const about = `zebra ${Array.from({ length: 70 }, (_, n) => `${n}їжак`).join(' ')}`
    const shown: number[] = []
    for (let bytes = 2_000; bytes < 9_000; bytes += 350) {
      const query = `${pathOf(about)}&bytes=${bytes}`
      const { text, body } = await service.call('GET', `${query}&around=1`, born)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes)
      const { body: without } = await service.call('GET', query, born)
      expect(keysOf(body.found)).toEqual(keysOf(without.found))
      expect(keysOf(body.pinned)).toEqual(keysOf(without.pinned))
      const found = body.found as { before?: object[]; after?: object[] }[]
      shown.push(found.flatMap(({ before = [], after = [] }) => [...before, ...after]).length)
    }
    expect([shown.at(0), shown.at(-1)]).toEqual([0, 6])
  })

  test('takes a task of 16 KiB, in a body', async () => {
    const post = (body: object) =>
      service.call('POST', '/api/agents/me/context', { token: born.token, body })
    const about = `"${'ї'.repeat(8_100)}" ${'y'.repeat(175)} COPY.`
    expect(Buffer.byteLength(about)).toBe(16_384)
    const { body } = await post({ about, around: 1, bytes: 3_000 })
    expect(keysOf(body.found)).toEqual(['tables.copy'])
    expect((await post({})).body.found).toEqual([])
    const answer = await post({ about: `${about}.` })
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual(['/about'])
  })

  test('shows nothing beside that was erased before its turn came', async () => {
    await write(service, born.token, 'talk.1', 'zebra')
    await write(service, born.token, 'talk.2', 'Secret.')
    const { searchMemories } = service.store
    const app = appBeside(service, {
      async searchMemories(...asked) {
        const found = await searchMemories(...asked)
        const body = { key: 'talk.2', versions: 'all' }
        const token = born.operatorToken
        await service.call('POST', `${memoryPath}/erase`, { token, body })
        return found
      },
    })
    const { text, body } = await ask(app, 'GET', `${pathOf('zebra')}&around=1`, born)
    expect(body.found).toMatchObject([{ key: 'talk.1' }])
    expect(text).not.toContain('Secret')
  })

  test('shows nothing as it was found that changed before its turn came', async () => {
    const { searchMemories } = service.store
    const app = appBeside(service, {
      async searchMemories(...asked) {
        const found = await searchMemories(...asked)
        await write(service, born.token, 'tables.copy', 'Done.', 1)
        const body = { key: 'shop.tables', versions: 'all' }
        const token = born.operatorToken
        await service.call('POST', `${memoryPath}/erase`, { token, body })
        return found
      },
    })
    const { text, body } = await ask(app, 'GET', pathOf(TASK), { token: born.token })
    expect(body.found).toEqual([])
    expect(keysOf(body.changes)).toEqual(['tables.copy', 'weather'])
    expect(text).not.toContain('large')
  })
})

test('what is deleted after it was listed is left out', async () => {
  const service = await openService(embedded)
  const born = await service.birth()
  const pin = { text: 'I keep the shop.', metadata: { pinned: true }, expectedVersion: 0 }
  for (const key of ['what', 'who']) {
    await service.call('POST', memoryPath, { token: born.token, body: { key, ...pin } })
  }
  const { listMemories } = service.store
  const app = appBeside(service, {
    async listMemories(...asked) {
      const listed = await listMemories(...asked)
      const path = `${memoryPath}?key=who&expectedVersion=1`
      await service.call('DELETE', path, { token: born.token })
      return listed
    },
  })
  const answer = await ask(app, 'GET', '/api/agents/me/context', { token: born.token })
  expect(answer.status).toBe(200)
  expect(keysOf(answer.body.pinned)).toEqual(['what'])
  await service.close()
})

describe('beside searches that do not end', () => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(embedded, { READS_PER_MINUTE: '0' })
    born = await service.birth()
    await write(service, born.token, 'plan', 'Step 1')
  })
  afterAll(() => service.close())

  /** An app whose searches wait until they may begin. */
  function waiting() {
    const begun: (() => void)[] = []
    const { searchMemories } = service.store
    const app = appBeside(service, {
      searchMemories: (...asked) =>
        new Promise<void>((begin) => begun.push(begin)).then(() => searchMemories(...asked)),
    })
    const contexts: Promise<Answer>[] = []
    const { token } = born
    return {
      contexts,
      wake: (from: string) => contexts.push(ask(app, 'GET', pathOf('step'), { token, from })),
      other: (from: string) => ask(app, 'GET', '/api/agents/me/context', { token, from }),
      async end() {
        let ended = false
        const all = Promise.all(contexts).finally(() => {
          ended = true
        })
        while (!ended) {
          for (const begin of begun.splice(0)) begin()
          await turnOfTheLoop()
        }
        return all
      },
    }
  }

  test('contexts about a task keep nobody from what is costly', async () => {
    const { wake, other, end } = waiting()
    for (let n = 0; n < 48; n++) wake(`192.0.2.${n % 6}`)
    const answers = await Promise.all([other('192.0.2.0'), other('192.0.2.9')])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect((await end()).map(({ status }) => status)).toEqual(Array(48).fill(200))
  })

  test('a context is refused where a search is', async () => {
    const { wake, contexts, end } = waiting()
    for (let n = 0; n < 66; n++) wake('192.0.2.1')
    expectProblem(await Promise.race(contexts), 'overloaded')
    const codes = (await end()).map(({ status }) => status)
    expect(codes.filter((status) => status === 503)).toHaveLength(1)
  })
})

describe('a parameter', () => {
  let service: TestService
  let token: string
  beforeAll(async () => {
    service = await openService(embedded)
    token = (await service.birth()).token
    await write(service, token, 'plan', 'Step 1')
  })
  afterAll(() => service.close())

  test.each([
    ['about', pathOf('x'.repeat(16_385))],
    ['around', `${pathOf('x')}&around=3`],
  ])('%s that is too large is refused', async (name, path) => {
    const answer = await service.call('GET', path, { token })
    expectProblem(answer, 'invalid_query')
    expect(pointersOf(answer)).toEqual([`?${name}`])
  })

  test.each(['', ' ', '\n\t'])('about=%j is as none', async (about) => {
    const [empty, none] = await Promise.all([
      service.call('GET', pathOf(about), { token }),
      service.call('GET', '/api/agents/me/context', { token }),
    ])
    expect({ ...empty.body, limits: 0 }).toEqual({ ...none.body, limits: 0 })
  })
})
