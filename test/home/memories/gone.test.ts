/** What a refusal says of a memory that is no longer under its key: following it leads to the memory. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Home } from '../../../src/home/home.ts'
import { lastOfDeleted } from '../../../src/home/memories/gone.ts'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import { type Born, engines, openService, type TestService, write } from '../../harness.ts'
import { connect } from '../../mcp/clients.ts'

const ME = '/api/agents/me'

describe.each(engines)('a memory that is gone on $name', (engine) => {
  let service: TestService
  let born: Born
  beforeAll(async () => {
    service = await openService(engine, {
      ...{ READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', BIRTHS_PER_HOUR_PER_ADDRESS: '0' },
    })
  })
  afterAll(async () => {
    service.app.stopAccepting()
    await service.close()
  })
  beforeEach(async () => {
    born = await service.birth()
  })

  const call = async (method: string, path: string, body?: object, token = born.token) =>
    service.call(method, `${ME}/${path}`, { token, ...(body && { body }) })

  const put = (key: string, text: string, expectedVersion = 0) =>
    write(service, born.token, key, text, expectedVersion)

  const rename = (from: string, to: string, expectedVersion: number) =>
    call('POST', 'batch', { operations: [{ rename: { from, to, expectedVersion } }] })

  /** Every call that finds the memory gone. */
  const refusals = async (token = born.token) => {
    const based = { key: 'plan', expectedVersion: 1 }
    const { body } = await call(
      'POST',
      'batch',
      { operations: [{ write: { ...based, text: 'x' } }] },
      token,
    )
    const [inBatch] = body.conflicts as Record<string, unknown>[]
    const answers = [
      await call('GET', 'memory?key=plan', undefined, token),
      await call('GET', 'memory?key=plan&version=1', undefined, token),
      await call('GET', 'memory?key=plan&version=99', undefined, token),
      await call('DELETE', 'memory?key=plan&expectedVersion=1', undefined, token),
      await call('POST', 'memory', { ...based, text: 'x' }, token),
      await call('PATCH', 'memory', { ...based, text: 'x' }, token),
      await call('POST', 'memory/edit', { key: 'plan', old: 'a', new: 'b' }, token),
      await call('POST', 'memory/append', { ...based, text: 'x' }, token),
      await call('POST', 'memory/restore', { key: 'plan', version: 1, expectedVersion: 0 }, token),
      // By the operator, who reaches every name.
      await call('POST', 'memory/protect', { key: 'plan', protected: true }, born.operatorToken),
    ]
    return [...answers.map((answer) => answer.body), inBatch]
  }

  test('says where a rename took it, and advises no restore', async () => {
    await put('plan', 'one')
    await rename('plan', 'plan.2026', 1)
    for (const body of await refusals()) {
      expect(body).toMatchObject({ renamedTo: 'plan.2026', deletedVersion: 2 })
      expect(body).not.toHaveProperty('lastVersion')
      expect(body?.detail).toContain('renamed to plan.2026')
      expect(body?.detail).not.toMatch(/restor|deleted/)
    }
    const there = await call('GET', 'memory?key=plan.2026')
    expect(there.body.memory).toMatchObject({ text: 'one' })
  })

  test('says the last of several names, one after the other, also of one moment', async () => {
    await put('plan', 'one')
    const names = ['plan', 'b', 'plan', 'c', 'd']
    const operations = names.slice(1).map((to, at) => ({
      rename: { from: names[at], to, expectedVersion: at + 1 },
    }))
    expect((await call('POST', 'batch', { operations })).status).toBe(200)
    expect((await call('GET', 'memory?key=plan')).body.renamedTo).toBe('d')
    expect((await call('GET', 'memory?key=c')).body.renamedTo).toBe('d')
  })

  const renamedTo = async (key: string) => (await call('GET', `memory?key=${key}`)).body.renamedTo

  test('follows later renames, to where the memory is now', async () => {
    await put('a', 'one')
    for (const [from, to] of [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'd'],
    ] as const) {
      const { memory } = (await call('GET', `memory?key=${from}`)).body
      await rename(from, to, (memory as { version: number }).version)
    }
    for (const key of ['a', 'b', 'c']) expect(await renamedTo(key)).toBe('d')
    // Another memory at a key on the way is not it.
    await put('b', 'other')
    for (const key of ['a', 'c']) expect(await renamedTo(key)).toBe('d')
    await call('DELETE', 'memory?key=d&expectedVersion=4')
    expect(await renamedTo('a')).toBe('d')
    expect((await call('GET', 'memory?key=d')).body.lastVersion).toBe(4)
    await call('POST', 'memory/erase', { key: 'd', versions: 'all' }, born.operatorToken)
    const { body } = await call('GET', 'memory?key=a')
    expect(body).not.toHaveProperty('renamedTo')
    expect(body.detail).not.toMatch(/restor|Use that key/)
  })

  test('finds a later rename far behind the first', async () => {
    await put('plan', 'one')
    await rename('plan', 'b', 1)
    const operations = Array.from({ length: 100 }, () => ({ append: { key: 'log', text: '.' } }))
    for (let batches = 0; batches < 11; batches++) await call('POST', 'batch', { operations })
    await rename('b', 'c', 2)
    expect(await renamedTo('plan')).toBe('c')
    // The memory that left is not the one that came.
    for (let batches = 0; batches < 11; batches++) await call('POST', 'batch', { operations })
    await put('b', 'other')
    expect(await renamedTo('plan')).toBeUndefined()
  })

  test('is said beside the answers that are no refusals', async () => {
    await put('plan', 'one')
    await rename('plan', 'b', 1)
    expect((await call('GET', 'memory/versions?key=plan')).body).toEqual({
      ...{ versions: [], next: null, renamedTo: 'b' },
    })
    expect((await call('GET', 'memory/versions?key=b')).body).not.toHaveProperty('renamedTo')
    const reads = ['plan', 'b', 'never'].map((key) => ({ read: { key } }))
    const { results } = (await call('POST', 'batch', { operations: reads })).body
    expect(results).toEqual([
      { memory: null, renamedTo: 'b' },
      { memory: expect.objectContaining({ key: 'b' }) },
      { memory: null },
    ])
  })

  test('a deletion says what can be restored, also where nothing can', async () => {
    await put('plan', 'one')
    const { body } = await call('DELETE', 'memory?key=plan&expectedVersion=1')
    expect(body.note).toContain('version 1 and')
    const bounded = await openService(engine, { VERSIONS_PER_MEMORY: '1' })
    const { token } = await bounded.birth()
    await write(bounded, token, 'plan', 'one')
    const client = await connect(bounded, token, 'modern')
    const gone = await bounded.call('DELETE', `${ME}/memory?key=plan&expectedVersion=1`, { token })
    expect(gone.body.note).toBe('None of its versions is retained: it cannot be restored.')
    const { body: missing } = await bounded.call('GET', `${ME}/memory?key=plan`, { token })
    expect(missing.detail).not.toContain('restore')
    await write(bounded, token, 'plan.b', 'one')
    const told = await client.callTool({
      name: 'delete_memory',
      arguments: { key: 'plan.b', expectedVersion: 1 },
    })
    expect(JSON.stringify(told.content)).toContain('it cannot be restored')
    await client.close()
    bounded.app.stopAccepting()
    await bounded.close()
  })

  test('finds a rename that more events follow than one look reads', async () => {
    await put('plan', 'one')
    await rename('plan', 'b', 1)
    const operations = Array.from({ length: 50 }, () => ({ append: { key: 'log', text: '.' } }))
    for (let batches = 0; batches < 22; batches++) await call('POST', 'batch', { operations })
    expect((await call('GET', 'memory?key=plan')).body.renamedTo).toBe('b')
  })

  test('names the version that can be restored, which then can', async () => {
    await put('plan', 'one')
    await call('DELETE', 'memory?key=plan&expectedVersion=1')
    const bodies = await refusals()
    const restores = bodies.filter((body) => body?.lastVersion !== undefined)
    expect(restores.length).toBeGreaterThan(5)
    for (const body of restores) {
      expect(body).toMatchObject({ lastVersion: 1 })
      expect(body?.detail).toContain('memory/restore, version 1 and expectedVersion 0')
    }
    // The restore is one of the calls, and works.
    expect((await call('GET', 'memory?key=plan')).body.memory).toMatchObject({ text: 'one' })
  })

  test('advises no restore of what was erased', async () => {
    await put('plan', 'one')
    await call('POST', 'memory/erase', { key: 'plan', versions: 'all' }, born.operatorToken)
    const { body } = await call('GET', 'memory?key=plan')
    expect(body).not.toHaveProperty('lastVersion')
    expect(body).not.toHaveProperty('renamedTo')
    expect(body.detail).not.toContain('restore')
    expect((await put('plan', 'two')).status).toBe(200)
  })

  test('names the version before those that were erased', async () => {
    await put('plan', 'one')
    await put('plan', 'two', 1)
    await call('DELETE', 'memory?key=plan&expectedVersion=2')
    await call('POST', 'memory/erase', { key: 'plan', versions: [2] }, born.operatorToken)
    expect((await call('GET', 'memory?key=plan')).body.lastVersion).toBe(1)
  })

  test('tells a key with a prefix no name out of its reach', async () => {
    const { body: key } = await call(
      'POST',
      'keys/named',
      { name: 'in', access: 'write', prefix: 'plan' },
      born.operatorToken,
    )
    await put('plan', 'one')
    await rename('plan', 'secret', 1)
    const seen = (await refusals(String(key.token))).toSpliced(9, 1)
    expect(JSON.stringify(seen)).not.toContain('secret')
    const { body, text } = await call('GET', 'memory?key=plan', undefined, String(key.token))
    expect(body).toMatchObject({ code: 'memory_not_found', deletedVersion: 2 })
    expect(text).not.toContain('secret')
    await rename('secret', 'plan.back', 2)
    await put('plan', 'again')
    const version = (await call('GET', 'memory?key=plan')).body.memory as { version: number }
    await rename('plan', 'plan.on', version.version)
    const near = await call('GET', 'memory?key=plan', undefined, String(key.token))
    expect(near.body.renamedTo).toBe('plan.on')
  })

  test('a batch says what it has renamed itself', async () => {
    await put('plan', 'one')
    const answer = await call('POST', 'batch', {
      operations: [
        { rename: { from: 'plan', to: 'b', expectedVersion: 1 } },
        { write: { key: 'plan', text: 'x', expectedVersion: 1 } },
      ],
    })
    expect(answer.body.conflicts).toMatchObject([{ operation: 1, renamedTo: 'b' }])
    const twice = await call('POST', 'batch', {
      operations: [
        { rename: { from: 'plan', to: 'b', expectedVersion: 1 } },
        { write: { key: 'plan', text: 'x', expectedVersion: 0 } },
        { rename: { from: 'plan', to: 'c', expectedVersion: 3 } },
        { write: { key: 'plan', text: 'y', expectedVersion: 3 } },
      ],
    })
    expect(twice.body.conflicts).toMatchObject([{ operation: 3, renamedTo: 'c' }])
  })

  test('a model is told the new key, and no restore that fails', async () => {
    await put('plan', 'one')
    await rename('plan', 'b', 1)
    const client = await connect(service, born.token, 'modern')
    const calls = {
      read_memory: {},
      write_memory: { text: 'x', expectedVersion: 1 },
      restore_memory: { version: 1, expectedVersion: 0 },
      delete_memory: { expectedVersion: 1 },
      edit_memory: { old: 'a', new: 'b' },
      append_memory: { text: 'x', expectedVersion: 1 },
      memory_history: {},
    }
    for (const [name, args] of Object.entries(calls)) {
      const told = await client.callTool({ name, arguments: { key: 'plan', ...args } })
      const said = JSON.stringify(told.content)
      expect(said).toContain('renamed to b')
      expect(said).not.toContain('restore_memory')
    }
  })
})

test.each([
  ['is no reason to refuse a deletion that is committed', new StoreUnavailable('away'), undefined],
  ['that is a fault is one', new Error('fault'), 'fault'],
])('a store that does not answer after it %s', async (_, error, thrown) => {
  const store = { listVersions: () => Promise.reject(error) } as unknown as Home['store']
  const identity = { kind: 'agent', agentId: 'a', status: 'active', tokenHash: 't' } as const
  const found = lastOfDeleted({ store }, identity, 'plan')
  if (thrown) await expect(found).rejects.toThrow(thrown)
  else expect(await found).toBeUndefined()
})
