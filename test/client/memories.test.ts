import { AgentHome, BatchConflict, HomeError, VersionConflict } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type OpenedHome, openHome } from './opened.ts'
import { all } from './outcome.ts'

describe('the client', () => {
  let opened: OpenedHome
  beforeAll(async () => {
    opened = await openHome()
  })
  afterAll(() => opened.close())

  test('writes, reads, appends, patches, deletes and restores, each a version', async () => {
    const { home } = await opened.born()
    expect(await home.read('plan')).toBeUndefined()
    const written = await home.write('plan', 'A', { expectedVersion: 0, metadata: { run: 1 } })
    expect(written).toMatchObject({ key: 'plan', text: 'A', metadata: { run: 1 }, version: 1 })
    expect((await home.append('plan', 'B')).text).toBe('AB')
    expect((await home.append('plan', 'C', { expectedVersion: 2 })).version).toBe(3)
    const patched = await home.patch('plan', { metadata: {} }, { expectedVersion: 3 })
    expect(patched).toMatchObject({ text: 'ABC', metadata: {}, version: 4 })
    expect(await home.delete('plan', { expectedVersion: 4 })).toMatchObject({ version: 5 })
    expect(await home.read('plan')).toBeUndefined()
    expect(await home.restore('plan', 1, { expectedVersion: 0 })).toMatchObject({
      text: 'A',
      metadata: { run: 1 },
      version: 6,
    })
    expect(await home.read('plan', { version: 3 })).toMatchObject({ text: 'ABC', version: 3 })
    const versions = await all(home.versions('plan'))
    expect(versions.map(({ operation }) => operation)).toEqual([
      'restore',
      'delete',
      'patch',
      'append',
      'append',
      'write',
    ])
  })

  test('edits one passage, and says how often it is there where that is not once', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'Step 1, step 1.', { expectedVersion: 0 })
    expect(await home.edit('plan', 'Step 1', 'Step 2')).toMatchObject({
      text: 'Step 2, step 1.',
      version: 2,
    })
    const often = await home.edit('plan', 'tep', '', { expectedVersion: 2 }).catch((error) => error)
    expect(often).toMatchObject({ code: 'edit_ambiguous', status: 409 })
    expect(often).not.toBeInstanceOf(VersionConflict)
    const never = await home.edit('plan', 'Step 1', '').catch((error) => error)
    expect(never).toMatchObject({ code: 'edit_not_found' })
  })

  test('lists what was deleted, and brings it back', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'A', { expectedVersion: 0 })
    await home.delete('plan', { expectedVersion: 1 })
    await home.write('a', 'A', { expectedVersion: 0 })
    await home.delete('a', { expectedVersion: 1 })
    const [gone, ...others] = await all(home.deleted({ after: 'b' }))
    expect(others).toEqual([])
    expect(gone).toMatchObject({ key: 'plan', version: 2, lastVersion: 1, by: { as: 'agent' } })
    await home.restore('plan', gone?.lastVersion ?? 0, { expectedVersion: 0 })
    expect(await all(home.deleted({ prefix: 'p' }))).toEqual([])
  })

  test('lists no more than was asked for, over as many pages as that takes', async () => {
    const { home } = await opened.born()
    const write = (n: number) => ({ write: { key: `k${n}`, text: 'tea', expectedVersion: 0 } })
    for (const from of [0, 60]) {
      await home.batch(Array.from({ length: 60 }, (_, n) => write(from + n)))
    }
    const { length } = await all(home.list())
    const some = [home.list({ limit: 105 }), home.events({ limit: 3 }), home.deleted({ limit: 1 })]
    const counts = await Promise.all(some.map(async (each) => (await all<unknown>(each)).length))
    expect([length, ...counts]).toEqual([120, 105, 3, 0])
    expect(await all(home.search('tea', { limit: 2 }))).toHaveLength(2)
  })

  test('takes 16 KiB in any script as a question and as a task', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'tea', { expectedVersion: 0 })
    const letter = `${'їжак '.repeat(1_820)}tea`
    expect(Buffer.byteLength(letter)).toBe(16_383)
    const hits = home.search(letter)
    expect((await all(hits)).map(({ key }) => key)).toEqual(['plan'])
    expect(hits.missing).toEqual(['їжак'])
    const { found, missing } = await home.context({ about: letter })
    expect([found.map(({ key }) => key), missing]).toEqual([['plan'], ['їжак']])
  })

  test('says which words of a question no memory has, once it was asked', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'tea', { expectedVersion: 0 })
    const hits = home.search('Zebra tea')
    expect(hits.missing).toEqual([])
    for await (const { key } of hits) expect([key, hits.missing]).toEqual(['plan', ['zebra']])
    const none = home.search('zebra yak')
    expect([await all(none), none.missing]).toEqual([[], ['zebra', 'yak']])
  })

  test('address and token are from the environment unless told, and what is missing is named', async () => {
    const { token } = await opened.born()
    vi.stubEnv('AGENT_HOME_URL', opened.url)
    vi.stubEnv('AGENT_HOME_TOKEN', token)
    expect((await new AgentHome().profile()).profile.name).toBeTruthy()
    vi.stubEnv('AGENT_HOME_URL', undefined)
    expect(() => new AgentHome()).toThrow('url is missing: pass it, or set AGENT_HOME_URL')
    expect(() => new AgentHome({ url: 'home' })).toThrow('url must be an address, such as')
    vi.stubEnv('AGENT_HOME_TOKEN', undefined)
    for (const missing of [undefined, '']) {
      expect(() => new AgentHome({ url: opened.url, token: missing })).toThrow(
        'token is missing: pass it, or set AGENT_HOME_TOKEN',
      )
    }
    vi.unstubAllEnvs()
  })

  test('a run is called as told, or by the environment, and is what others see', async () => {
    const { home, token } = await opened.born()
    const clientOf = (run?: string) => new AgentHome({ url: opened.url, token, run })
    vi.stubEnv('AGENT_HOME_RUN', 'of the environment')
    await clientOf().append('log', 'a')
    await clientOf(' nächtlich 🌙 ').append('log', 'b')
    await clientOf('').append('log', 'c')
    vi.unstubAllEnvs()
    await clientOf().append('log', 'd')
    const runs = (await all(home.versions('log'))).map(({ by }) => by?.run)
    expect(runs).toEqual([undefined, undefined, 'nächtlich 🌙', 'of the environment'])
    expect(await all(home.events({ run: 'nächtlich 🌙' }))).toMatchObject([{ version: 2 }])
    for (const run of ['x'.repeat(81), 'a\nb', 'a\u200eb']) {
      expect(() => clientOf(run)).toThrow('run must have 1 to 80 visible characters')
    }
  })

  test('a conflict says everything that the answer said', async () => {
    const { home } = await opened.born()
    const { updatedAt } = await home.write('plan', 'A', { expectedVersion: 0 })
    const conflict = await home.write('plan', 'B', { expectedVersion: 0 }).catch((error) => error)
    expect(conflict).toBeInstanceOf(VersionConflict)
    expect(conflict).toBeInstanceOf(HomeError)
    expect(conflict).toMatchObject({
      name: 'VersionConflict',
      code: 'version_conflict',
      status: 409,
      currentVersion: 1,
      updatedAt,
      sameContent: false,
      detail: expect.stringContaining('Nothing was written'),
      requestId: expect.stringMatching(/^\w/),
    })
    const { deletedAt } = await home.delete('plan', { expectedVersion: 1 })
    const gone = await home.write('plan', 'B', { expectedVersion: 1 }).catch((error) => error)
    expect(gone).toMatchObject({ currentVersion: 0, deletedVersion: 2, deletedAt })
  })

  test('what is wrong with a body is told fault by fault', async () => {
    const { home } = await opened.born()
    const refused = await home.write('no spaces', '', { expectedVersion: 0 }).catch((e) => e)
    expect(refused).toBeInstanceOf(HomeError)
    expect(refused).toMatchObject({ code: 'invalid_body', status: 400 })
    expect(refused.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      '/key',
      '/text',
    ])
  })

  test('a batch is made whole, or names what cannot be made', async () => {
    const { home } = await opened.born()
    const results = await home.batch([
      { write: { key: 'a', text: 'A', expectedVersion: 0 } },
      { append: { key: 'a', text: 'B' } },
      { read: { key: 'nothing' } },
      { rename: { from: 'a', to: 'b', expectedVersion: 2 } },
      { delete: { key: 'b', expectedVersion: 3 } },
    ])
    expect(results).toMatchObject([
      { memory: { version: 1 } },
      { memory: { text: 'AB' } },
      { memory: null },
      { memory: { key: 'b', version: 3 } },
      { deleted: { key: 'b', version: 4 } },
    ])
    const conflict = await home
      .batch([
        { write: { key: 'a', text: 'A', expectedVersion: 0 } },
        { patch: { key: 'none', text: 'A', expectedVersion: 7 } },
      ])
      .catch((error) => error)
    expect(conflict).toBeInstanceOf(BatchConflict)
    expect(conflict.conflicts).toMatchObject([
      { operation: 1, code: 'version_conflict', currentVersion: 0 },
    ])
    expect(await home.read('a')).toBeUndefined()
  })

  test('vectors of several requests are counted together, in as few as they take', async () => {
    const { home, operator } = await opened.born()
    const keys = Array.from({ length: 201 }, (_, n) => `v${String(n).padStart(3, '0')}`)
    for (let at = 0; at < keys.length; at += 100) {
      const some = keys.slice(at, at + 100)
      await home.batch(some.map((key) => ({ write: { key, text: key, expectedVersion: 0 } })))
    }
    // 91 of them have two megabytes as they are sent.
    const vector = Array.from({ length: 4_096 }, (_, n) => n + 1)
    const outdated = ['v000', 'v100', 'v200']
    const guarded = ['v001', 'v199']
    for (const key of guarded) await operator.protect(key)
    const vectors = keys.map((key) => ({ key, version: outdated.includes(key) ? 2 : 1, vector }))
    let asked = 0
    const answer = await home.storeVectors('m', vectors, { response: () => asked++ })
    expect([asked, answer.stored, answer.protected]).toEqual([3, 196, guarded])
    expect(answer.stale).toEqual(outdated.map((key) => ({ key, currentVersion: 1 })))
    const meaning = { model: 'm', vector }
    const found = await all(home.search('', { meaning, prefix: 'v00' }))
    expect(found.map(({ key }) => key).toSorted()).toEqual(keys.slice(2, 10))
  })

  test('a rename takes the memory along', async () => {
    const { home } = await opened.born()
    const { id } = await home.write('a', 'A', { expectedVersion: 0 })
    expect(await home.rename('a', 'b', { expectedVersion: 1 })).toMatchObject({ id, key: 'b' })
    expect(await home.read('a')).toBeUndefined()
  })

  test('forty clients update one key at once, and nothing is lost', async () => {
    const { home, token } = await opened.born()
    const clients = Array.from({ length: 40 }, () => new AgentHome({ url: opened.url, token }))
    const lines = clients.map((_, n) => `line ${n}`)
    await Promise.all(
      clients.map((client, n) =>
        client.update('list', (now) => `${now ? `${now.text}\n` : ''}${lines[n]}`),
      ),
    )
    const list = await home.read('list')
    expect(list?.version).toBe(40)
    expect(list?.text.split('\n').toSorted()).toEqual(lines.toSorted())
  })

  test('a write without metadata keeps what is there, digit for digit', async () => {
    const { home, token } = await opened.born()
    const { call } = opened.service
    const sent = '{"key":"plan","text":"A","metadata":{"pinned":true,"n":1.50},"expectedVersion":0}'
    await call('POST', '/api/agents/me/memory', { token, body: sent })
    const kept = async () => (await call('GET', '/api/agents/me/memory?key=plan', { token })).text
    await home.write('plan', 'B', { expectedVersion: 1 })
    await home.update('plan', () => 'C')
    expect(await kept()).toContain('"text":"C","metadata":{"pinned":true,"n":1.50}')
    expect((await home.write('plan', 'D', { expectedVersion: 3, metadata: {} })).metadata).toEqual(
      {},
    )
  })

  test('an update that changes nothing writes nothing', async () => {
    const { home } = await opened.born()
    expect(await home.update('plan', () => undefined)).toBeUndefined()
    const metadata = { n: 1 }
    await home.write('plan', 'A', { expectedVersion: 0, metadata })
    expect(await home.update('plan', () => undefined)).toMatchObject({ version: 1 })
    expect(await home.update('plan', () => 'A')).toMatchObject({ version: 1 })
    expect(await home.update('plan', () => ({ text: 'A', metadata }))).toMatchObject({ version: 1 })
    expect(await home.update('plan', () => ({ text: 'A', metadata: {} }))).toMatchObject({
      metadata: {},
      version: 2,
    })
  })

  test('an update keeps the metadata, unless it gives others', async () => {
    const { home } = await opened.born()
    await home.write('plan', 'A', { expectedVersion: 0, metadata: { pinned: true } })
    expect((await home.update('plan', () => 'B')).metadata).toEqual({ pinned: true })
    const changed = await home.update('plan', async () => ({ text: 'C', metadata: { n: 1 } }))
    expect(changed).toMatchObject({ text: 'C', metadata: { n: 1 }, version: 3 })
  })

  test('what an update throws is thrown, and nothing is written', async () => {
    const { home } = await opened.born()
    const broken = home.update('plan', () => {
      throw new RangeError('not today')
    })
    await expect(broken).rejects.toThrow(new RangeError('not today'))
    expect(await home.read('plan')).toBeUndefined()
  })
})
