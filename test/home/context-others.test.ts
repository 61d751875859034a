/** GET /api/agents/me/context?since=mine: what others changed since somebody was last here. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { entriesOf } from '../../src/home/context/others.ts'
import { type EventType, type OthersEvent, ROWS_PER_LOOK } from '../../src/store/port/events.ts'
import { type Born, embedded, openService, type TestService, write } from '../harness.ts'
import { expectProblem, pointersOf } from '../problem.ts'

const ME = '/api/agents/me'

interface Context {
  readonly others?: readonly Record<string, unknown>[]
  readonly leftOut: Readonly<Record<string, unknown>>
}

describe('what others did to a memory, all in all', () => {
  type Step = readonly [type: EventType, key: string | undefined, more?: Partial<OthersEvent>]

  const entries = (...steps: readonly Step[]) => {
    const events = steps.map(([type, key, more], at) => ({
      ...{ id: at + 1, type, key, from: undefined, version: at + 2, namedKey: undefined },
      ...{ by: undefined, createdAt: at, ...more },
    }))
    return [...entriesOf(events)].map(([key, { change, from, event }]) =>
      [key, change, from, event.id].filter((each) => each !== undefined).join(' '),
    )
  }
  const first = { version: 1 }

  test.each<readonly [string, readonly Step[], readonly string[]]>([
    [
      'is created',
      [
        ['write', 'a', first],
        ['edit', 'a'],
      ],
      ['a created 2'],
    ],
    [
      'is updated',
      [
        ['append', 'a'],
        ['patch', 'a'],
      ],
      ['a updated 2'],
    ],
    [
      'is imported',
      [
        ['import', 'a', first],
        ['import', 'b'],
      ],
      ['a created 1', 'b updated 2'],
    ],
    [
      'is deleted',
      [
        ['write', 'a', first],
        ['delete', 'a'],
      ],
      ['a deleted 2'],
    ],
    ['is erased as a whole', [['erase', 'a']], ['a deleted 1']],
    ['lost earlier versions', [['erase', 'a', { version: undefined }]], []],
    [
      'is created anew',
      [
        ['delete', 'a'],
        ['write', 'a'],
      ],
      ['a created 2'],
    ],
    [
      'is created where nothing was',
      [
        ['write', 'a', { creates: true }],
        ['edit', 'a'],
      ],
      ['a created 2'],
    ],
    [
      'is renamed and renamed back',
      [
        ['rename', 'b', { from: 'a' }],
        ['edit', 'b'],
        ['rename', 'a', { from: 'b' }],
      ],
      ['a updated 3'],
    ],
    [
      'is restored',
      [
        ['delete', 'a'],
        ['restore', 'a'],
        ['append', 'a'],
      ],
      ['a restored 3'],
    ],
    [
      'is renamed',
      [
        ['rename', 'b', { from: 'a' }],
        ['edit', 'b'],
      ],
      ['b renamed a 2'],
    ],
    [
      'is renamed again',
      [
        ['rename', 'b', { from: 'a' }],
        ['rename', 'c', { from: 'b' }],
      ],
      ['c renamed a 2'],
    ],
    [
      'is renamed and deleted',
      [
        ['rename', 'b', { from: 'a' }],
        ['delete', 'b'],
      ],
      ['b deleted a 2'],
    ],
    [
      'is created and renamed',
      [
        ['write', 'a', first],
        ['rename', 'b', { from: 'a' }],
      ],
      ['b created 2'],
    ],
    [
      'left its key to another',
      [
        ['rename', 'b', { from: 'a' }],
        ['write', 'a'],
        ['append', 'a'],
      ],
      ['b renamed a 1', 'a created 3'],
    ],
    [
      'came to the key of a deleted one',
      [
        ['delete', 'b'],
        ['rename', 'b', { from: 'a' }],
      ],
      ['b renamed a 2'],
    ],
    ['went out of reach', [['rename', undefined, { from: 'a' }]], ['a deleted 1']],
    ['came into reach', [['rename', 'a']], ['a created 1']],
    [
      'is in the order of the last change',
      [
        ['edit', 'a'],
        ['edit', 'b'],
        ['edit', 'a'],
      ],
      ['b updated 2', 'a updated 3'],
    ],
  ])('it %s', (_, steps, expected) => {
    expect(entries(...steps)).toEqual(expected)
  })
})

describe('a context since one was last here', () => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(embedded, { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())
  beforeEach(async () => {
    born = await service.birth()
  })

  async function others(token: string, query = '') {
    const { status, text, body } = await service.call('GET', `${ME}/context?since=mine${query}`, {
      token,
    })
    expect(status).toBe(200)
    return { text, context: body as unknown as Context }
  }

  async function named(bounds: object = {}) {
    const { body } = await service.call('POST', `${ME}/keys/named`, {
      token: born.operatorToken,
      body: { name: 'ci', access: 'write', ...bounds },
    })
    return String(body.token)
  }

  const batch = (token: string, ...operations: readonly object[]) =>
    service.call('POST', `${ME}/batch`, { token, body: { operations } })

  test('has who changed what, and how; nothing of its own; nothing unless asked', async () => {
    const key = await named()
    await write(service, born.token, 'plan', 'Step 1')
    await batch(
      key,
      { append: { key: 'log', text: 'x' } },
      { rename: { from: 'plan', to: 'plan.old', expectedVersion: 1 } },
    )
    await batch(born.operatorToken, { delete: { key: 'log', expectedVersion: 1 } })
    const { context } = await others(born.token)
    const by = { as: 'agent', via: 'api', key: { id: expect.any(String), name: 'ci' } }
    expect(context.others).toEqual([
      { key: 'plan.old', change: 'renamed', from: 'plan', version: 2, by, at: expect.any(String) },
      {
        ...{ key: 'log', change: 'deleted', version: 2, at: expect.any(String) },
        by: { as: 'operator', via: 'api' },
      },
    ])
    expect(context.leftOut).toMatchObject({ others: 0, earlierOthers: false })
    const plain = await service.call('GET', `${ME}/context`, { token: born.token })
    expect(plain.body).not.toHaveProperty('others')
    expect(plain.body.leftOut).not.toHaveProperty('others')
    await write(service, born.token, 'mine', 'x')
    expect((await others(born.token)).context.others).toEqual([])
    const body = { since: 'mine', about: 'plan' }
    const posted = await service.call('POST', `${ME}/context`, { token: key, body })
    expect(posted.body.others).toMatchObject([{ key: 'log', change: 'deleted' }, { key: 'mine' }])
  })

  test('a token that never writes is told what came since the day before', async () => {
    const key = await named({ access: 'read' })
    const day = 24 * 60 * 60_000
    await write(service, born.token, 'old', 'x')
    const seen = async () => (await others(key)).context.others?.map(({ key: name }) => name)
    expect(await seen()).toEqual(['old'])
    service.tick(day)
    expect(await seen()).toEqual([])
    await write(service, born.token, 'new', 'x')
    expect(await seen()).toEqual(['new'])
    expect(await seen()).toEqual(['new'])
    service.tick(day)
    expect(await seen()).toEqual(['new'])
    expect(await seen()).toEqual([])
  })

  test('one request a day writes, and others answer where that fails', async () => {
    await others(born.token)
    const { commits } = await service.store.status()
    await others(born.token)
    await service.call('GET', `${ME}/context`, { token: born.token })
    expect((await service.store.status()).commits).toBe(commits)
  })

  test('a key with a prefix learns nothing of other keys', async () => {
    const key = await named({ prefix: 'in.' })
    const write = (name: string) => ({ write: { key: name, text: 'x', expectedVersion: 0 } })
    const rename = (from: string, to: string) => ({ rename: { from, to, expectedVersion: 1 } })
    await batch(born.token, ...['secret', 'in.a', 'in.b'].map(write))
    await batch(born.token, rename('in.a', 'secret.a'), rename('secret', 'in.c'))
    const { text, context } = await others(key)
    expect(text).not.toContain('secret')
    expect(context.others).toMatchObject([
      { key: 'in.b', change: 'created' },
      { key: 'in.a', change: 'deleted' },
      { key: 'in.c', change: 'created' },
    ])
    expect(context.others?.[1]).not.toHaveProperty('version')
  })

  test('takes a third of the room at most, the newest last, within its bytes', async () => {
    const key = await named()
    const operations = Array.from({ length: 80 }, (_, n) => ({
      write: { key: `k${n + 10}`, text: 'x'.repeat(200), expectedVersion: 0 },
    }))
    // Whoever asks again on the same day is told less.
    const readers = await Promise.all(Array.from({ length: 9 }, () => named({ access: 'read' })))
    await batch(key, ...operations)
    for (const [at, reader] of readers.entries()) {
      const bytes = 2_000 + 311 * at
      const { text, context } = await others(reader, `&bytes=${bytes}`)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes)
      const { others: shown = [] } = context
      const keys = shown.map(({ key }) => key)
      expect(keys).toEqual(keys.map((_, at) => `k${90 - keys.length + at}`))
      const room =
        bytes - Buffer.byteLength(JSON.stringify({ ...context, others: [], changes: [] }))
      const used = shown.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)) + 1, 0)
      expect(used).toBeLessThanOrEqual(room / 3 + 8)
      expect(used).toBeGreaterThan(room / 3 - 200)
      expect(context.leftOut.others).toBe(80 - shown.length)
    }
  })

  test('says that there may be more than it looked at', async () => {
    const key = await named()
    await write(service, born.token, 'mine', 'x')
    const many = Array.from({ length: 100 }, () => ({ append: { key: 'log', text: '.' } }))
    for (let n = 0; n < ROWS_PER_LOOK; n += many.length) await batch(key, ...many)
    const { context } = await others(born.token)
    expect(context).toMatchObject({ others: [{ key: 'log' }], leftOut: { earlierOthers: true } })
  })

  test('of a key with a prefix only what it sees counts, however much there is beside it', async () => {
    const key = await named({ prefix: 'in.' })
    const beside = async () => {
      const many = Array.from({ length: 100 }, () => ({ append: { key: 'log', text: '.' } }))
      for (let n = 0; n <= ROWS_PER_LOOK; n += many.length) await batch(born.token, ...many)
    }
    await beside()
    await write(service, key, 'in.mine', 'x')
    await beside()
    const seen = async () => {
      const { context } = await others(key)
      return [context.others?.map(({ key: name }) => name), context.leftOut.earlierOthers]
    }
    expect(await seen()).toEqual([[], false])
    const reader = await named({ prefix: 'in.', access: 'read' })
    await write(service, born.token, 'in.a', 'x')
    await beside()
    await write(service, born.token, 'in.b', 'x')
    expect(await seen()).toEqual([['in.a', 'in.b'], false])
    expect((await others(reader)).context).toMatchObject({
      others: [{ key: 'in.a' }, { key: 'in.b' }],
      leftOut: { earlierOthers: false },
    })
    const many = Array.from({ length: 100 }, () => ({ append: { key: 'in.log', text: '.' } }))
    for (let n = 0; n <= ROWS_PER_LOOK; n += many.length) await batch(born.token, ...many)
    expect((await others(key)).context.leftOut).toMatchObject({ earlierOthers: true })
  })

  test('other values are refused', async () => {
    for (const query of ['since=yours', 'since=', 'proof=yes']) {
      const answer = await service.call('GET', `${ME}/context?${query}`, { token: born.token })
      expectProblem(answer, 'invalid_query')
    }
    const body = { since: 'yours', proof: 'true' }
    const answer = await service.call('POST', `${ME}/context`, { token: born.token, body })
    expectProblem(answer, 'invalid_body')
    expect(pointersOf(answer)).toEqual(['/since', '/proof'])
  })

  test('has a hash only where it is asked for, and tells no other what to call next at length', async () => {
    await write(service, born.token, 'plan', 'x')
    const { body, text } = await service.call('GET', `${ME}/context`, { token: born.token })
    expect(body).not.toHaveProperty('head')
    expect(text).not.toMatch(/[0-9a-f]{64}/)
    expect(body.lastEvent).toBe(1)
    const head = (await service.call('GET', `${ME}/head`, { token: born.token })).body.head
    const { id, hash } = head as { id: number; hash: string }
    const proven = await service.call('GET', `${ME}/context?proof=true`, { token: born.token })
    expect(proven.body.head).toEqual({ id, hash })
    const posted = await service.call('POST', `${ME}/context`, {
      token: born.token,
      body: { proof: true },
    })
    expect(posted.body.head).toEqual({ id, hash })
    const key = await named({ prefix: 'in.' })
    const prefixed = await service.call('GET', `${ME}/context?proof=true`, { token: key })
    expect(prefixed.body).not.toHaveProperty('head')
    expect(prefixed.body).not.toHaveProperty('lastEvent')
    expect(Buffer.byteLength(JSON.stringify(body.next))).toBeLessThanOrEqual(205)
  })
})
