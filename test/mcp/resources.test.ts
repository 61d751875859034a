/** Memories as resources, and who is told that they changed. */
import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { hashToken } from '../../src/pipeline/tokens.ts'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import { appBeside, type Born, embedded, openService, type TestService, write } from '../harness.ts'
import { connect, eras } from './clients.ts'

let service: TestService
let born: Born
let client: Client
beforeAll(async () => {
  service = await openService(embedded, { READS_PER_MINUTE: '0', STREAMS_PER_ADDRESS: '2' })
})
afterAll(() => service.close())

describe.each(eras)('a client of $version', ({ era }) => {
  beforeEach(async () => {
    born = await service.birth()
    client = await connect(service, born.token, era)
  })

  test('lists every memory, page by page, and no other', async () => {
    const keys = Array.from({ length: 450 }, (_, n) => `k${String(n).padStart(3, '0')}`)
    for (const key of keys) await write(service, born.token, key, 'x')
    const other = await service.birth()
    await write(service, other.token, 'theirs', 'x')
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor })
      expect(JSON.stringify(page).length).toBeLessThan(131_072)
      listed.push(...page.resources.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect([...new Set(listed)]).toEqual(keys)
  })

  test('reads one by its address, and finds no other', async () => {
    await write(service, born.token, 'plan', 'Step 1')
    const [listed] = (await client.listResources()).resources
    expect(listed).toMatchObject({ uri: 'memory:///plan', name: 'plan', size: 6 })
    const { contents } = await client.readResource({ uri: 'memory:///plan' })
    expect(contents).toMatchObject([
      { uri: 'memory:///plan', mimeType: 'text/plain', text: 'Step 1' },
    ])
    const [template] = (await client.listResourceTemplates()).resourceTemplates
    expect(template?.uriTemplate).toBe('memory:///{key}')
    for (const uri of [
      'memory:///absent',
      'memory:///a/b',
      'memory:///%00',
      'file:///etc/passwd',
    ]) {
      await expect(client.readResource({ uri }), uri).rejects.toThrow(/not found/)
    }
  })

  test('is told of what is out of reach of its key just what it is told of nothing', async () => {
    await write(service, born.token, 'plan', 'Step 1')
    const { body } = await service.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'notes', access: 'read', prefix: 'notes.' },
    })
    const named = await connect(service, String(body.token), era)
    const told = async (key: string) => {
      const error = await named.readResource({ uri: `memory:///${key}` }).catch((each) => each)
      return String(error).replace(key, '')
    }
    expect(await told('plan')).toBe(await told('notes.none'))
  })
})

describe('a client of today', () => {
  /** Resolves with each address that it is told of, one after another. */
  function changesOf(client: Client) {
    const told: string[] = []
    let wake = () => {}
    const hear = (what: string) => {
      told.push(what)
      wake()
    }
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      hear(params.uri),
    )
    client.setNotificationHandler('notifications/resources/list_changed', () => hear('list'))
    return async (count: number) => {
      while (told.length < count) {
        const { promise, resolve } = Promise.withResolvers<void>()
        wake = resolve
        await promise
      }
      return told
    }
  }

  beforeEach(async () => {
    born = await service.birth()
    client = await connect(service, born.token, 'modern')
  })

  test('is told of what it asked for, whoever changed it', async () => {
    const heard = changesOf(client)
    const subscription = await client.listen({ resourceSubscriptions: ['memory:///plan'] })
    await write(service, born.token, 'other', 'x')
    await write(service, born.operatorToken, 'plan', 'Step 1')
    expect(await heard(1)).toEqual(['memory:///plan'])
    await subscription.close()
  })

  test('is told that the list is another', async () => {
    const heard = changesOf(client)
    const subscription = await client.listen({ resourcesListChanged: true })
    await write(service, born.token, 'other', 'x')
    expect(await heard(1)).toEqual(['list'])
    await subscription.close()
  })

  test('is told of a rename by either name', async () => {
    await write(service, born.token, 'old', 'x')
    const heard = changesOf(client)
    const uris = ['memory:///old', 'memory:///new']
    const subscription = await client.listen({ resourceSubscriptions: uris })
    await service.call('POST', '/api/agents/me/batch', {
      token: born.token,
      body: { operations: [{ rename: { from: 'old', to: 'new', expectedVersion: 1 } }] },
    })
    expect((await heard(2)).toSorted()).toEqual(uris.toSorted())
    await subscription.close()
  })

  test.each([
    {
      asked: { resourcesListChanged: true, resourceSubscriptions: ['memory:///plan'] },
      told: ['list', 'memory:///plan'],
    },
    { asked: { resourcesListChanged: true }, told: ['list'] },
    {
      prefix: 'plan',
      asked: { resourceSubscriptions: ['memory:///other', 'memory:///plan'] },
      told: ['memory:///plan'],
    },
  ])('is told of $told where it missed what happened', async ({ prefix, asked, told }) => {
    const few = await openService(embedded, { EVENTS_PER_AGENT: '10' })
    const { token, operatorToken } = await few.birth()
    const named = async (prefix: string) => {
      const body = { name: 'plans', access: 'read', prefix }
      const made = await few.call('POST', '/api/agents/me/keys/named', {
        token: operatorToken,
        body,
      })
      return String(made.body.token)
    }
    const reader = prefix === undefined ? token : await named(prefix)
    const identity = await few.store.identify(hashToken(token))
    if (!identity) throw new Error('the token is void')
    let answers = true
    const { eventsAfter } = few.store
    const app = appBeside(few, {
      eventsAfter: (...asked) =>
        answers ? eventsAfter(...asked) : Promise.reject(new StoreUnavailable('gone')),
    })
    const follower = await connect({ ...few, app }, reader, 'modern')
    const heard = changesOf(follower)
    const subscription = await follower.listen(asked)
    answers = false
    await write(few, token, 'plan', 'x')
    for (let n = 0; n < 128; n++) await few.store.recordEvent(identity, 'export', few.now())
    answers = true
    expect((await heard(told.length)).toSorted()).toEqual(told)
    await subscription.close()
    app.stopAccepting()
    await few.close()
  })

  test('is matched with what changed, and not with all that it listens to', async () => {
    const uris = Array.from({ length: 3_200 }, (_, n) => `memory:///k${n}`)
    const heard = changesOf(client)
    const subscription = await client.listen({ resourceSubscriptions: uris })
    const searched = vi.spyOn(Array.prototype, 'includes')
    onTestFinished(() => searched.mockRestore())
    const operations = Array.from({ length: 100 }, (_, n) => ({
      write: { key: `k${3_000 + n}`, text: 'x', expectedVersion: 0 },
    }))
    await service.call('POST', '/api/agents/me/batch', { token: born.token, body: { operations } })
    expect((await heard(100)).toSorted()).toEqual(uris.slice(3_000, 3_100).toSorted())
    const lists = searched.mock.contexts as unknown[][]
    expect(lists.filter(({ length }) => length === uris.length)).toEqual([])
    await subscription.close()
  })

  test('is told of nothing out of the reach of its key', async () => {
    const { body } = await service.call('POST', '/api/agents/me/keys/named', {
      token: born.operatorToken,
      body: { name: 'notes', access: 'read', prefix: 'notes.' },
    })
    const named = await connect(service, String(body.token), 'modern')
    const heard = changesOf(named)
    const uris = ['memory:///plan', 'memory:///notes.a']
    const subscription = await named.listen({ resourceSubscriptions: uris })
    await write(service, born.token, 'plan', 'x')
    await write(service, born.token, 'notes.a', 'x')
    expect(await heard(1)).toEqual(['memory:///notes.a'])
    await subscription.close()
  })

  test('is told that nothing more comes when it may see no more', async () => {
    const subscription = await client.listen({ resourcesListChanged: true })
    await service.call('PATCH', '/api/agents/me', {
      token: born.operatorToken,
      body: { status: 'paused' },
    })
    expect(await subscription.closed).toBe('graceful')
  })

  test('holds no more streams than an address may, and gives back what it held', async () => {
    const open = await Promise.all([1, 2].map(() => client.listen({ resourcesListChanged: true })))
    await expect(client.listen({ resourcesListChanged: true })).rejects.toThrow('too_many_streams')
    for (const each of open) await each.close()
    await (await client.listen({ resourcesListChanged: true })).close()
  })
})
