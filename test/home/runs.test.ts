/** What a client calls its run is kept with what the run writes, and one run can be taken back. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyExport } from '../../clients/typescript/src/chain.ts'
import { engines, openService, type TestService, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'
import { beginning, nextHash } from '../store/chained.ts'

const me = '/api/agents/me'

interface Shown {
  readonly versions: readonly { readonly by: object }[]
  readonly events: readonly (Record<string, unknown> & { key: string; by: { run: string } })[]
  readonly memories: readonly { readonly key: string }[]
}

/** The bytes of a header, as Node.js is given them. */
const bytes = (text: string): string => Buffer.from(text).toString('latin1')

describe.each(engines)('runs on $name', (engine) => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(engine, { CONTROLS_PER_MINUTE: '0' })
  })
  afterAll(() => service.close())

  const by = (run: string, token: string) => ({
    async write(key: string, text: string, expectedVersion: number) {
      const body = { key, text, expectedVersion }
      const headers = { 'agent-run': run }
      const { status } = await service.call('POST', `${me}/memory`, { token, headers, body })
      expect(status).toBe(200)
    },
    call: (method: 'POST' | 'PATCH' | 'DELETE' | 'GET', path: string, body?: object) =>
      service.call(method, `${me}/${path}`, { token, headers: { 'agent-run': run }, body }),
  })
  const get = async (token: string, path: string) =>
    (await service.call('GET', `${me}/${path}`, { token })).body as unknown as Shown

  test('every change keeps it: in versions, events, deleted memories, and an export', async () => {
    const { token, operatorToken, agentId } = await service.birth()
    const nightly = by(bytes('  nächtlich 🌙 '), token)
    const author = { as: 'agent', run: 'nächtlich 🌙', via: 'api' }
    await nightly.write('plan', 'Step 1', 0)
    await nightly.write('plan', 'Step 2', 1)
    await nightly.call('POST', 'memory/append', { key: 'plan', text: '.' })
    await nightly.call('PATCH', 'memory', { key: 'plan', text: 'Step 3', expectedVersion: 3 })
    await nightly.call('POST', 'batch', { operations: [{ append: { key: 'log', text: 'a' } }] })
    await nightly.call('DELETE', 'memory?key=plan&expectedVersion=4')
    await by('console', operatorToken).call('POST', 'keys/named', { name: 'K', access: 'read' })
    const { versions } = await get(token, 'memory/versions?key=plan')
    expect(versions.map(({ by }) => by)).toEqual(Array(5).fill(author))
    const { events } = await get(token, 'events')
    expect(events).toMatchObject([
      ...['write', 'write', 'append', 'patch', 'append', 'delete'].map((type) => ({
        type,
        by: author,
      })),
      { type: 'create_key', by: { as: 'operator', run: 'console' } },
    ])
    let hash = beginning(agentId)
    for (const event of events) {
      hash = nextHash(hash, event)
      expect(event.hash).toBe(hash)
    }
    expect((await get(token, 'memories?deleted=true')).memories).toMatchObject([{ by: author }])

    const exported = await service.call('GET', `${me}/export?history=true`, {
      token: operatorToken,
    })
    expect(await verifyExport(exported.text)).toMatchObject({ proven: 5, faults: [] })
    const other = await service.birth()
    const imported = await service.call('POST', `${me}/import`, {
      token: other.operatorToken,
      body: exported.body,
    })
    expect(imported.status).toBe(200)
    expect((await get(other.token, 'memory/versions?key=plan')).versions).toEqual(versions)
    const again = await service.call('GET', `${me}/export?history=true`, {
      token: other.operatorToken,
    })
    expect(await verifyExport(again.text)).toMatchObject({ faults: [] })
  })

  test('events can be listed by it, and one run is taken back', async () => {
    const { token, operatorToken } = await service.birth()
    const [one, two] = [by('one', token), by('two', token)]
    await one.write('a', 'a of one', 0)
    await two.write('b', 'b of two', 0)
    await two.write('c', 'c of two', 0)
    await one.write('c', 'c of one', 1)
    await write(service, token, 'd', 'd of nobody', 0)
    const keysOf = async (query: string) =>
      (await get(token, `events?${query}`)).events.map(({ key }) => key)
    expect(await keysOf('run=two')).toEqual(['b', 'c'])
    expect(await keysOf('run=one&by=agent&order=newest')).toEqual(['c', 'a'])
    expect(await keysOf('run=one&by=operator')).toEqual([])
    expect(await keysOf('run=three')).toEqual([])

    const rollBack = async (body: object) =>
      (await service.call('POST', `${me}/rollback`, { token: operatorToken, body })).body
    expect(await rollBack({ to: 0, run: 'three' })).toMatchObject({ restored: 0, deleted: 0 })
    expect(await rollBack({ to: 0, run: 'one', by: 'operator' })).toMatchObject({ deleted: 0 })
    expect(await rollBack({ to: 3, run: 'one', dryRun: true })).toMatchObject({ restored: 1 })
    expect(await rollBack({ to: 3, run: 'one' })).toMatchObject({ restored: 1, deleted: 0 })
    expect(await get(token, 'memory?key=c')).toMatchObject({ memory: { text: 'c of two' } })
    expect(await rollBack({ to: 0, run: 'two' })).toMatchObject({ restored: 0, deleted: 2 })
    const { memories } = await get(token, 'memories')
    expect(memories.map(({ key }) => key)).toEqual(['a', 'd'])
  })

  test('a named key and its run are both named', async () => {
    const { operatorToken } = await service.birth()
    const made = await service.call('POST', `${me}/keys/named`, {
      token: operatorToken,
      body: { name: 'Notes', access: 'write', prefix: 'notes.' },
    })
    const { token, key } = made.body as { readonly token: string; readonly key: { id: string } }
    await by('seven', token).write('notes.a', 'x', 0)
    const { versions } = await get(token, 'memory/versions?key=notes.a')
    expect(versions[0]?.by).toEqual({
      ...{ as: 'agent', via: 'api', run: 'seven' },
      key: { id: key.id, name: 'Notes' },
    })
  })

  test.each([
    ['empty', ''],
    ['of spaces', '   '],
    ['too long', 'x'.repeat(81)],
    ['too long in characters of several bytes', bytes('🌙'.repeat(81))],
    ['a tab', 'a\tb'],
    ['a line separator', bytes('a\u2028b')],
    ['turned around', bytes('a\u202eb')],
    ['invisible', bytes('\u200b')],
    ['of letters that are invisible', bytes('\u3164')],
    ['partly invisible', bytes('nightly\u3164')],
    ['a variant of nothing', bytes('\ufe0f')],
  ])('a name that is %s is refused, and nothing is written', async (_, run) => {
    const { token } = await service.birth()
    const body = { key: 'a', text: 'x', expectedVersion: 0 }
    const headers = { 'agent-run': run }
    const refused = await service.call('POST', `${me}/memory`, { token, headers, body })
    expectProblem(refused, 'invalid_agent_run')
    expect((await get(token, 'events')).events).toEqual([])
  })

  test('sent twice it is refused', async () => {
    const { token } = await service.birth()
    const headers = { 'agent-run': ['a', 'b'] }
    expectProblem(await service.call('GET', `${me}/events`, { token, headers }), 'duplicate_header')
  })

  test('of eighty characters it is kept, whatever they are', async () => {
    const { token } = await service.birth()
    const run = `${'🌙'.repeat(78)}\u2764\ufe0f`
    await by(bytes(run), token).write('a', 'x', 0)
    expect((await get(token, 'events')).events[0]?.by.run).toBe(run)
  })
})
