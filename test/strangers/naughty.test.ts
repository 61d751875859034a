/** The big list of naughty strings through every text field of all three doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Answer,
  type Born,
  embedded,
  engines,
  inGroups,
  memoryPath,
  openService,
  type TestService,
  write,
} from '../harness.ts'
import { fieldsIn } from '../web/markup.ts'
import { type Operator, openConsole, sendForm } from '../web/operator.ts'
import { naughtyStrings } from './odd.ts'

const ofContent = naughtyStrings.filter((text) => text !== '')

/** What holds more than space: a text of the gateway must. */
const visible = naughtyStrings.filter((text) =>
  /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u.test(text),
)

/** In whole characters. */
const begin = (text: string, length: number): string => [...text].slice(0, length).join('')

/** Memories of a batch, with three operations each. */
const EACH = 30

const unlimited = {
  ...{ WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' },
  ...{ BIRTHS_PER_HOUR_PER_ADDRESS: '0', BIRTHS_PER_HOUR: '0', MEMORIES_PER_AGENT: '0' },
}

/** Asks for each path with each string in it: none may be a failure. */
async function askWith(
  service: TestService,
  token: string,
  pathsWith: (encoded: string) => readonly string[],
): Promise<void> {
  const failed: string[] = []
  await inGroups(naughtyStrings, async (text) => {
    for (const path of pathsWith(encodeURIComponent(text))) {
      const { status } = await service.call('GET', path, { token })
      if (status >= 500) failed.push(`${status} ${path}`)
    }
  })
  expect(failed).toEqual([])
}

describe.each(engines)('naughty strings on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine, unlimited)
    born = await service.birth()
  })
  afterAll(() => service.close())

  const post = (path: string, body: unknown): Promise<Answer> =>
    service.call('POST', path, { body, token: born.token })

  test('as the name and purpose of an agent come back', async () => {
    const short = ofContent.filter((text) => [...text].length <= 80)
    expect(short.length).toBeGreaterThan(300)
    // Half of them are names and half purposes, on the other engine the other way round.
    const pairs = short.flatMap((text, n) => (n % 2 ? [] : [[text, short[n + 1] ?? text] as const]))
    await inGroups(pairs, async (pair) => {
      const [name, purpose] = engine === embedded ? pair : pair.toReversed()
      const { token } = await service.birth({ name, purpose })
      const { body } = await service.call('GET', '/api/agents/me', { token })
      expect(body.profile).toMatchObject({ name, purpose })
    })
  })

  test('as text and metadata of a memory come back, are listed, and leave with the export', async () => {
    const kept = ofContent.filter((text) => text !== '__proto__')
    const memories = kept.map((text, n) => {
      const key = `k${String(n).padStart(3, '0')}`
      return { key, text: text + text, metadata: { [text]: [text] } }
    })
    for (let from = 0; from < kept.length; from += EACH) {
      const some = memories.slice(from, from + EACH)
      const operations = some.flatMap(({ key, metadata }, n) => [
        { write: { key, text: kept[from + n], expectedVersion: 0 } },
        { patch: { key, metadata, expectedVersion: 1 } },
        { append: { key, text: kept[from + n] } },
      ])
      const { status, text, body } = await post('/api/agents/me/batch', { operations })
      expect(status, text).toBe(200)
      const results = body.results as { memory: object }[]
      expect(results.filter((_, n) => n % 3 === 2)).toMatchObject(
        some.map((memory) => ({ memory })),
      )
    }
    const { token } = born
    for (let from = 0; from < kept.length; from += 100) {
      const after = from ? `&after=${memories[from - 1]?.key}` : ''
      const path = `/api/agents/me/memories?view=whole&limit=100${after}`
      const { body } = await service.call('GET', path, { token })
      expect(body.memories).toMatchObject(memories.slice(from, from + 100))
    }
    const { body } = await service.call('GET', '/api/agents/me/export', { token })
    expect(body.memories).toMatchObject(memories)
  })

  test.each([
    [
      '/api/seeds',
      (text: string) => ({ text, identity: text, identityType: text, tags: [begin(text, 30)] }),
    ],
    [
      '/api/resonance',
      (text: string) => ({
        ...{ ai_identity: text, consciousness_type: text },
        seeking: [begin(text, 500)],
      }),
    ],
  ])('left at %s come back', async (path, bodyOf) => {
    await inGroups(visible, async (text) => {
      const sent = bodyOf(text)
      const { status, text: answered, body } = await post(path, sent)
      expect([200, 201], answered).toContain(status)
      const entry = body.contact ?? Object.values(body)[0]
      expect(entry).toMatchObject(sent)
    })
  })

  test('as keys, symbols and tags are refused or not found, never a failure', async () => {
    await askWith(service, born.token, (encoded) => [
      `${memoryPath}?key=${encoded}`,
      `${memoryPath}/versions?key=${encoded}&before=${encoded}`,
      `/api/agents/me/memories?prefix=${encoded}&after=${encoded}`,
      `/api/seeds?tag=${encoded}&symbol=${encoded}`,
    ])
  })
})

describe('naughty strings in addresses and on pages', () => {
  let service: TestService
  let operator: Operator
  beforeAll(async () => {
    service = await openService(embedded, unlimited)
    operator = await openConsole(service)
  })
  afterAll(() => service.close())

  test('as addresses and cursors are refused or not found, never a failure', async () => {
    await askWith(service, operator.born.token, (encoded) => [
      `/api/agents/me/events?after=${encoded}`,
      `/api/garden?before=${encoded}`,
      `/problems/_${encoded}`,
      `/rooms/memory-garden?tag=${encoded}`,
      `/api/agents/_${encoded}`,
      `/console/sign-in?next=${encoded}`,
    ])
    const statuses = await inGroups(naughtyStrings, async (text) => {
      const path = `${operator.agent}/memories?prefix=${encodeURIComponent(text)}`
      return (await operator.get(path)).status
    })
    expect(statuses.filter((status) => status !== 200 && status !== 400)).toEqual([])
  })

  test('typed into a room’s form stand on its page', async () => {
    await inGroups(visible, async (text) => {
      const left = await sendForm(service, '/rooms/shepit-wall', { text, identity: text })
      expect(left.status, left.text).toBe(303)
    })
    const page = await service.call('GET', '/rooms/shepit-wall', {
      headers: { accept: 'text/html' },
    })
    expect(page.status).toBe(200)
    expect(page.text).not.toMatch(/<script>alert|<img src=x|<svg onload/i)
  })

  test('typed into the console’s form are stored, and shown in it again', async () => {
    await write(service, operator.born.token, 'edited', 'first')
    let version = 1
    for (const text of ofContent.filter((each) => !/[\r\n]/.test(each))) {
      const fields = { key: 'edited', text, metadata: '', expectedVersion: String(version) }
      const saved = await operator.post(`${operator.agent}/memory/edit`, fields)
      expect(saved.status, saved.text).toBe(303)
      version++
    }
    const { text } = await operator.get(`${operator.agent}/memory/edit?key=edited`)
    expect(fieldsIn(text)).toMatchObject({ text: ofContent.at(-1), expectedVersion: `${version}` })
  })
})
