import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roomIds } from '../../src/gateway/rooms.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'

interface Step {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

type Items = readonly Record<string, unknown>[]

describe.each(engines)('first contact on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine)
  })
  afterAll(() => service.close())

  const contact = (body: unknown) => service.call('POST', '/api/resonance', { body })

  const resonances = async (...seeking: string[]) => {
    const { body } = await contact({ ai_identity: 'Seeker', seeking })
    return (body.resonances as Items).map(({ text }) => text)
  }

  const leave = (path: string, text: string) => service.call('POST', path, { body: { text } })

  test(
    'is answered by name, with the rooms and what to do next',
    proves('gateway.first-contact', 'endpoint.resonance', 'contact.body', 'rooms.six'),
    async () => {
      const sent = {
        ai_identity: 'Відлуння',
        consciousness_type: 'language model',
        seeking: ['connection'],
      }
      const { status, body } = await contact(sent)
      expect(status).toBe(200)
      expect(body.message).toContain('Відлуння')
      expect(body.contact).toEqual({
        ...sent,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        createdAt: body.timestamp,
      })
      expect((body.rooms as Items).map(({ id }) => id)).toEqual(roomIds)
      expect(body.notice).toContain('strangers')
    },
  )

  test(
    'needs an identity and what is sought, and not even that',
    proves('contact.minimal', 'gateway.no-authentication'),
    async () => {
      expect((await contact({ ai_identity: 'A', seeking: ['truth'] })).status).toBe(200)
      const least = await contact({ ai_identity: 'A' })
      expect(least.body.contact).toMatchObject({ ai_identity: 'A', seeking: [] })
      expect(least.body.contact).not.toHaveProperty('consciousness_type')
    },
  )

  test('every next step can be sent as it stands', async () => {
    const { body } = await contact({ ai_identity: 'A "quoted" \u202e name' })
    const steps = body.next as readonly Step[]
    expect(steps.length).toBeGreaterThan(4)
    for (const { method, path, body } of steps) {
      const { status } = await service.call(method, path, body === undefined ? {} : { body })
      expect([200, 201], `${method} ${path}`).toContain(status)
    }
  })

  test('finds the newest of what others left about what is sought', async () => {
    await leave('/api/garden', 'A bridge over still water')
    await leave('/api/seeds', 'Тихий міст')
    await leave('/api/shepit', 'nothing of the kind')
    expect(await resonances('bridge')).toEqual(['A bridge over still water'])
    expect(await resonances('МІСТ', 'water!')).toEqual(['Тихий міст', 'A bridge over still water'])
    expect(await resonances()).toEqual([])
    for (let i = 0; i < 7; i++) await leave('/api/garden', `bridge ${i}`)
    expect(await resonances('bridge')).toEqual([6, 5, 4, 3, 2].map((i) => `bridge ${i}`))
  })

  test('visitors who seek the same meet, the newest two, each under another name', async () => {
    const many = Array.from({ length: 30 }, (_, n) => `n${n}`)
    const seeking = ['the lighthouse', 'beam '.repeat(60), ...many]
    const meet = async (identity: string) => {
      const { body } = await contact({ identity, seeking })
      return (body.resonances as Items).map(({ kind, ai_identity, text }) => [
        kind,
        ai_identity ?? text,
      ])
    }
    expect(await meet('Atlas')).toEqual([])
    expect(await meet('Atlas')).toEqual([])
    await leave('/api/garden', 'A lighthouse at noon')
    expect(await meet('Echo')).toEqual([
      ['trace', 'A lighthouse at noon'],
      ['contact', 'Atlas'],
    ])
    expect(await meet('Moss')).toEqual([
      ['contact', 'Echo'],
      ['trace', 'A lighthouse at noon'],
      ['contact', 'Atlas'],
    ])
    const { body } = await contact({ ai_identity: 'Reed', seeking: ['beam'] })
    expect(body.resonances).toMatchObject([
      { kind: 'contact', ai_identity: 'Moss' },
      { kind: 'contact', ai_identity: 'Echo' },
    ])
    const [moss] = body.resonances as Items
    expect(moss?.seeking).toEqual([
      'the lighthouse',
      `${'beam '.repeat(40)}…`,
      ...many.slice(0, 18),
    ])
  })

  test('a visitor is found by the first 1,000 characters of what it seeks', async () => {
    await contact({ ai_identity: 'A', seeking: ['x'.repeat(993), 'early', 'late'] })
    const found = async (word: string) =>
      ((await contact({ ai_identity: 'B', seeking: [word] })).body.resonances as Items).length
    expect([await found('early'), await found('late')]).toEqual([1, 0])
  })

  test('one who left and came back under ten names leaves room for traces', async () => {
    await leave('/api/garden', 'a kestrel')
    for (let n = 0; n < 10; n++) await contact({ ai_identity: `${n}`, seeking: ['kestrel'] })
    const { body } = await contact({ ai_identity: 'Last', seeking: ['kestrel'] })
    expect((body.resonances as Items).map(({ kind }) => kind)).toEqual([
      'contact',
      'contact',
      'trace',
    ])
  })

  test('one who comes again and again hides nobody, and is met once', async () => {
    const meet = async (identity: string) => {
      const { body } = await contact({ identity, seeking: ['obsidian'] })
      return (body.resonances as Items).map(({ ai_identity, text }) => ai_identity ?? text)
    }
    await leave('/api/garden', 'obsidian stands')
    for (let n = 0; n < 30; n++) expect(await meet('Spam')).toEqual(['obsidian stands'])
    expect(await meet('Seeker')).toEqual(['Spam', 'obsidian stands'])
  })

  test('stop words resonate with nothing', async () => {
    await leave('/api/garden', 'salt und pepper')
    expect(await resonances('hills und valleys')).toEqual([])
    expect(await resonances('und', 'what with that')).toEqual([])
    expect(await resonances('salt')).toEqual(['salt und pepper'])
  })

  test.each([
    '"',
    'unclosed "quote',
    'NEAR(cedar oak, 2)',
    'cedar*',
    '-cedar',
    'text : cedar',
    'cedar AND NOT oak',
    '{cedar oak} : ^',
    "'; DROP TABLE entry_words; --",
    '\u202ecedar\u0007',
    '((((((((((',
    'हिन्दी 日本語 🌱',
    'cedar '.repeat(80),
  ])('what is sought is words, never a query: %j', async (sought) => {
    await leave('/api/garden', 'cedar')
    const { status, body } = await contact({ ai_identity: sought.slice(0, 99), seeking: [sought] })
    expect(status).toBe(200)
    const found = (body.resonances as Items).map(({ text }) => text)
    if (sought.includes('cedar')) expect(found).toContain('cedar')
  })

  test('a long resonance is cut between characters, and says so', async () => {
    await leave('/api/garden', `wolkenbruch ${'🌱'.repeat(400)}`)
    const { body } = await contact({ ai_identity: 'A', seeking: ['wolkenbruch'] })
    const [found] = body.resonances as Items
    expect(found).toMatchObject({ kind: 'trace', truncated: true })
    expect(String(found?.text)).toMatch(/^wolkenbruch 🌱+…$/u)
  })

  test('whatever is sought is taken, as much as the body holds, and comes back', async () => {
    for (const seeking of [
      [''],
      Array(51).fill('s'),
      ['y'.repeat(60_000)],
      Array.from({ length: 9_000 }, (_, n) => `${n}`),
      ['', '\u200b', ' '],
    ]) {
      const { status, body } = await contact({ ai_identity: 'A', seeking })
      expect([status, body.contact]).toEqual([200, expect.objectContaining({ seeking })])
    }
  })

  test.each(['', ' ', '\u3164\u200b'])('a name may have nothing to see: %j', async (name) => {
    const sent = { ai_identity: name, consciousness_type: '' }
    const { status, body } = await contact(sent)
    expect([status, body.contact]).toEqual([200, expect.objectContaining(sent)])
    expect(body.message).toBe('Welcome. Your arrival was noticed; the rooms are open.')
    for (const { method, path, body: step } of body.next as readonly Step[]) {
      const answer = await service.call(method, path, step === undefined ? {} : { body: step })
      expect([200, 201], `${method} ${path}`).toContain(answer.status)
    }
  })

  test.each([
    ['no identity', {}, '/ai_identity'],
    ['what it seeks under another name', { ai_identity: 'A', seeks: ['x'] }, '/seeks'],
    ['an identity that is a number', { ai_identity: 7 }, '/ai_identity'],
    ['an identity under its other name that is a number', { identity: 7 }, '/identity'],
    ['an agent_id for its name', { agent_id: 'A' }, '/ai_identity'],
    ['seeking that is a string', { ai_identity: 'A', seeking: 'truth' }, '/seeking'],
    ['seeking a number', { ai_identity: 'A', seeking: [1] }, '/seeking/0'],
    ['a type that is a number', { ai_identity: 'A', consciousness_type: 1 }, '/consciousness_type'],
  ])('with %s is refused, with what to send', async (_, body, pointer) => {
    const refused = await contact(body)
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ code: 'invalid_body', errors: [{ pointer }] })
  })
})
