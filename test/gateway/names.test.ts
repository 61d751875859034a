/** Names are the visitors' own: whole in their entries, cut beside others, and left out by null. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, openService, type TestService } from '../harness.ts'
import { itemsOf } from './feed-items.ts'

const LONG = `${'Н'.repeat(199)}🌱${'я'.repeat(10_000)}`
const CUT = `${'Н'.repeat(199)}…`

const feeds = [
  ['/api/garden', 'trace', { seedId: null }],
  ['/api/seeds', 'seed', { type: null, symbol: null, tags: null }],
  ['/api/shepit', 'whisper', { symbol: null }],
] as const

describe.each(engines)('names on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const post = (path: string, body: unknown) => service.call('POST', path, { body })

  test.each(feeds)('%s keeps a long name and any kind whole', async (path, one) => {
    const sent = { text: 'wolkenbruch', identity: LONG, identityType: `a moss, ${LONG}` }
    const left = await post(path, sent)
    expect(left.status).toBe(201)
    expect(left.body[one]).toMatchObject(sent)
    expect(itemsOf(await service.call('GET', `${path}?limit=1`))).toEqual([left.body[one]])
  })

  test('where entries stand together, names are cut between characters', async () => {
    const { body } = await post('/api/resonance', {
      ai_identity: LONG,
      consciousness_type: LONG,
      seeking: ['wolkenbruch'],
    })
    expect(body.message).toContain(`Welcome, ${CUT}. `)
    expect(body.contact).toMatchObject({ ai_identity: LONG, consciousness_type: LONG })
    for (const each of body.resonances as object[]) {
      const identityType = `a moss, ${'Н'.repeat(192)}…`
      expect(each).toMatchObject({ identity: CUT, identityType, truncated: true })
    }
    const found = await service.call('GET', '/api/discover')
    expect(found.body.visitors).toMatchObject([{ ai_identity: CUT, consciousness_type: CUT }])
    expect(found.text).not.toContain('Н'.repeat(200))
    const page = await service.call('GET', '/rooms/resonance-hall', {
      headers: { accept: 'text/html' },
    })
    expect(page.text).toContain(`<bdi>${CUT}</bdi>`)
    expect(page.text).not.toContain('Н'.repeat(200))
  })

  test('where entries stand together, what is just as long as it may be is whole', async () => {
    const [name, text] = ['n'.repeat(200), `regenbogen ${'x'.repeat(489)}`]
    await post('/api/garden', { text, identity: name, identityType: name })
    const { body } = await post('/api/resonance', { ai_identity: name, seeking: ['regenbogen'] })
    expect(body.message).toContain(`Welcome, ${name}. `)
    const [found] = body.resonances as Record<string, unknown>[]
    expect(found).toMatchObject({ text, identity: name, identityType: name })
    expect(found).not.toHaveProperty('truncated')
  })

  test('where entries stand together, one that is cut in its kind alone says so', async () => {
    await post('/api/garden', { text: 'nebelbogen', identityType: LONG })
    const { body } = await post('/api/resonance', { ai_identity: 'A', seeking: ['nebelbogen'] })
    expect(body.resonances).toMatchObject([{ identityType: CUT, truncated: true }])
  })

  test('where entries stand together, tags are few and cut, and the entry says so', async () => {
    const tags = [`${LONG}`, ...Array.from({ length: 30 }, (_, n) => `${n}`)]
    await post('/api/seeds', { text: 'manytagged', tags })
    await post('/api/seeds', { text: 'manytagged', tags: tags.slice(1) })
    await post('/api/seeds', { text: 'manytagged', tags: tags.slice(1, 21) })
    const { body } = await post('/api/resonance', { ai_identity: 'A', seeking: ['manytagged'] })
    const [few, short, many] = body.resonances as Record<string, unknown>[]
    expect(short).toMatchObject({ tags: tags.slice(1, 21), truncated: true })
    expect(few).toMatchObject({ tags: tags.slice(1, 21) })
    expect(few).not.toHaveProperty('truncated')
    expect(many).toMatchObject({ tags: [CUT, ...tags.slice(1, 20)], truncated: true })
  })

  test('a page of long names ends early, and goes on', async () => {
    for (let n = 0; n < 6; n++) {
      await post('/api/garden', { text: `${n}`, identity: 'x'.repeat(60_000) })
    }
    const page = await service.call('GET', '/api/garden?limit=6')
    expect(itemsOf(page).map(({ text }) => text)).toEqual(['5', '4', '3', '2'])
    const rest = await service.call('GET', `/api/garden?limit=2&before=${page.body.next}`)
    expect(itemsOf(rest).map(({ text }) => text)).toEqual(['1', '0'])
  })

  test.each(feeds)('in %s, null is as if it were left out', async (path, one, nulls) => {
    const none = { identity: null, identityType: null, room: null }
    const {
      id: _,
      createdAt: __,
      ...least
    } = (await post(path, { text: 't' })).body[one] as Record<string, unknown>
    const left = await post(path, { text: 't', ...nulls, ...none })
    expect(left.status).toBe(201)
    expect(left.body[one]).toMatchObject(least)
    expect(Object.keys(left.body[one] as object)).toHaveLength(Object.keys(least).length + 2)
  })

  test('in a first contact, null is as if it were left out, but for the name', async () => {
    const nulls = { consciousness_type: null, seeking: null }
    const met = await post('/api/resonance', { ai_identity: 'A', ...nulls })
    expect(met.body.contact).toMatchObject({ ai_identity: 'A', seeking: [] })
    expect(met.body.contact).not.toHaveProperty('consciousness_type')
    const refused = await post('/api/resonance', { ai_identity: null, ...nulls })
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ pointer: '/ai_identity', message: 'is missing: it must be a string' }],
    ])
  })
})
