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
    await inGroups(short, async (text) => {
      const { token } = await service.birth({ name: text, purpose: text })
      const { body } = await service.call('GET', '/api/agents/me', { token })
      expect(body.profile).toMatchObject({ name: text, purpose: text })
    })
  })

  test('as text and metadata of a memory come back, and leave with the export', async () => {
    await inGroups(ofContent, async (text, n) => {
      const metadata = { [text]: [text] }
      const body = { key: `k${n}`, text, metadata, expectedVersion: 0 }
      const saved = await post(memoryPath, body)
      if (text === '__proto__') expect(saved.status).toBe(400)
      else expect(saved.body.memory).toMatchObject({ text, metadata })
    })
    const { token } = born
    const { body } = await service.call('GET', '/api/agents/me/export', { token })
    const texts = (body.memories as { text: string }[]).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(ofContent.filter((text) => text !== '__proto__').toSorted())
  })

  test('in a batch, a patch and an append come back, and in lists', async () => {
    const { token } = await service.birth()
    const kept = ofContent.filter((text) => text !== '__proto__')
    await inGroups(kept, async (text, n) => {
      const key = `k${n}`
      const metadata = { [text]: [text] }
      const operations = [
        { append: { key, text } },
        { patch: { key, metadata, expectedVersion: 1 } },
        { append: { key, text } },
      ]
      const body = { operations }
      const { status } = await service.call('POST', '/api/agents/me/batch', { token, body })
      expect(status, text).toBe(200)
      const path = `/api/agents/me/memories?view=whole&prefix=${key}&limit=1`
      const { memories } = (await service.call('GET', path, { token })).body
      expect(memories).toMatchObject([{ key, text: text + text, metadata, version: 3 }])
    })
  })

  test.each([
    ['/api/garden', (text: string) => ({ text, identity: text, identityType: text })],
    ['/api/seeds', (text: string) => ({ text, identity: text, identityType: text })],
    ['/api/shepit', (text: string) => ({ text, identity: text, identityType: text })],
    ['/api/seeds', (text: string) => ({ text, tags: [begin(text, 30)] })],
    ['/api/resonance', (text: string) => ({ ai_identity: text, consciousness_type: text })],
    ['/api/resonance', (text: string) => ({ ai_identity: 'A', seeking: [begin(text, 500)] })],
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
      `/rooms/memory-garden?tag=${encoded}`,
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
