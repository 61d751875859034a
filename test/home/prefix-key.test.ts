/** A key with a prefix is told of what it reaches, and of nothing else: neither what nor how much. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Born, engines, incomingOf, openService, type TestService, write } from '../harness.ts'
import { connect } from '../mcp/clients.ts'

const ME = '/api/agents/me'

const paths = [
  ME,
  `${ME}/context`,
  `${ME}/context?bytes=2000`,
  `${ME}/context?about=text`,
  `${ME}/context?since=mine&proof=true`,
  `${ME}/context?about=text+created+absent&around=2`,
  `${ME}/memories`,
  `${ME}/memories?order=changed&view=whole`,
  `${ME}/memories?limit=1`,
  `${ME}/memories/search?q=text`,
  `${ME}/memories/search?q=text+other+absent&around=2`,
  `${ME}/events`,
  `${ME}/events?after=1&limit=1`,
  `${ME}/events?after=2`,
  `${ME}/events?order=newest`,
  `${ME}/events?order=newest&limit=1`,
  `${ME}/events?prefix=i`,
  `${ME}/events?by=agent&since=2020-01-01T00:00:00Z`,
  `${ME}/memory?key=in.a`,
  `${ME}/memory/versions?key=in.a`,
  `${ME}/memory?key=out.a`,
  `${ME}/memory?key=out.absent`,
  `${ME}/export?history=true`,
]

describe.each(engines)('a key with a prefix on $name', (engine) => {
  let service: TestService
  let born: Born
  let token: string
  beforeAll(async () => {
    service = await openService(engine, {
      ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0' },
    })
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })
  beforeEach(async () => {
    born = await service.birth()
    const { body } = await service.call('POST', `${ME}/keys/named`, {
      token: born.operatorToken,
      body: { name: 'in', access: 'write', prefix: 'in.' },
    })
    token = String(body.token)
    await write(service, born.token, 'in.a', 'text')
    await write(service, born.token, 'in.b', 'text')
    await write(service, born.token, 'out.first', 'text')
  })

  const change = (operations: readonly object[], by = born.token) =>
    service.call('POST', `${ME}/batch`, { token: by, body: { operations } })

  const created = (key: string, metadata = {}) => ({
    write: { key, text: 'text', metadata, expectedVersion: 0 },
  })

  async function shown(path: string): Promise<unknown> {
    const { status, headers, text } = await service.call('GET', path, { token })
    const { 'x-request-id': _, ...rest } = Object.fromEntries(headers)
    const body = text.replace(/"(exportedAt|instance)":"[^"]*"/g, '"$1":…')
    return { status, headers: rest, body }
  }

  async function opening(): Promise<unknown> {
    const { body } = await service.app.serve(incomingOf('GET', `${ME}/events/stream`, { token }))
    if (body === null || typeof body === 'string') throw new Error('no stream')
    const { value } = await body.pieces[Symbol.asyncIterator]().next()
    body.close()
    return value
  }

  async function overMcp(): Promise<unknown> {
    const client = await connect(service, token, 'modern')
    const resources = await client.listResources()
    const asked = [{}, { about: 'text' }].map((args) =>
      client.callTool({ name: 'get_context', arguments: args }),
    )
    return { resources, contexts: await Promise.all(asked) }
  }

  const everything = async () => ({
    ...Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await shown(path)]))),
    opening: await opening(),
    mcp: await overMcp(),
  })

  test('is answered the same, whatever happens out of its reach', async () => {
    // The first of a day is told what others changed.
    await everything()
    const before = await everything()
    const names = Array.from({ length: 60 }, (_, n) => `out.${n}`)
    await change(names.map((name) => created(name, { pinned: true })))
    await change([
      { delete: { key: 'out.1', expectedVersion: 1 } },
      { rename: { from: 'out.2', to: 'other', expectedVersion: 1 } },
      { patch: { key: 'out.3', text: 'more text', expectedVersion: 1 } },
    ])
    await service.call('POST', `${ME}/memory/erase`, {
      token: born.operatorToken,
      body: { key: 'out.4', versions: 'all' },
    })
    expect(await everything()).toEqual(before)
  })

  test('is told of what happens in its reach', async () => {
    const before = await service.call('GET', `${ME}/memories`, { token })
    await change([created('in.c'), created('in.d'), created('out.c')])
    const list = await service.call('GET', `${ME}/memories`, { token })
    expect(list.headers.get('etag')).not.toBe(before.headers.get('etag'))
    expect((await service.call('GET', ME, { token })).body).toMatchObject({ memoryCount: 4 })
    const { body } = await service.call('GET', `${ME}/context`, { token })
    expect(body).toMatchObject({ memoryCount: 4, leftOut: { memories: 0, pinned: 0 } })
    expect(Object.keys(Object(body.limits))).toEqual(['reads', 'writes'])
    expect(await opening()).toContain('id: 6\n')
    await change([{ delete: { key: 'in.d', expectedVersion: 1 } }])
    expect((await service.call('GET', ME, { token })).body).toMatchObject({ memoryCount: 3 })
  })

  test('is told of nothing missed where others write beside its stream', async () => {
    const { body } = await service.app.serve(incomingOf('GET', `${ME}/events/stream`, { token }))
    if (body === null || typeof body === 'string') throw new Error('no stream')
    const pieces = body.pieces[Symbol.asyncIterator]()
    expect((await pieces.next()).value).toContain('id: 3\n')
    const next = pieces.next()
    for (let n = 0; n < 20; n++) await write(service, born.token, `out.${n}`, 'text')
    await write(service, born.token, 'in.c', 'text')
    expect((await next).value).toMatch(/^id: 25\nevent: write\n/)
    body.close()
  })

  test('is told by 304 that its page is the same, also where others changed theirs', async () => {
    const path = `${ME}/memories?order=changed`
    const ask = async (etag: string) =>
      (await service.call('GET', path, { token, headers: { 'if-none-match': etag } })).status
    const etag = (await service.call('GET', path, { token })).headers.get('etag') ?? ''
    await write(service, born.token, 'out.z', 'text')
    expect(await ask(etag)).toBe(304)
    await write(service, token, 'in.a', 'more', 1)
    expect(await ask(etag)).toBe(200)
  })

  test('that has no memory in reach is told of none', async () => {
    const { body } = await service.call('POST', `${ME}/keys/named`, {
      token: born.operatorToken,
      body: { name: 'none', access: 'read', prefix: 'none.' },
    })
    token = String(body.token)
    expect((await service.call('GET', ME, { token })).body).toMatchObject({ memoryCount: 0 })
    expect((await service.call('GET', `${ME}/events`, { token })).body).toEqual({
      events: [],
      next: null,
    })
    expect(await opening()).toContain('id: 0\n')
  })

  test('without a prefix is told of the whole home', async () => {
    const { body } = await service.call('GET', `${ME}/context`, { token: born.token })
    expect(body).toMatchObject({ memoryCount: 3, limits: { memories: { left: 9_997 } } })
    const list = await service.call('GET', `${ME}/memories`, { token: born.token })
    expect(list.headers.get('etag')).toBe('"e4"')
  })
})
