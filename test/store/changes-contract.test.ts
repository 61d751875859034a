/** What becomes of memories: changes, versions, lists and the log, from every engine. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EventsQuery, type HomeEvent, ROWS_PER_LOOK } from '../../src/store/port/events.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { BRIEF_BYTES, type Change, type ChangesAnswer } from '../../src/store/port/memories.ts'
import { stores } from '../harness.ts'
import { NOON, newQuery, newWrite, openFixture, type StoreFixture, tally } from './fixture.ts'

const conflict = (currentVersion: number) => ({ outcome: 'conflict', currentVersion })

describe.each(stores)('changes on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  const change = (identity: Identity, ...changes: Change[]): Promise<ChangesAnswer> =>
    fixture.store().changeMemories(identity, changes, NOON + 5)

  /** What became of one change. */
  async function one(identity: Identity, each: Change) {
    const answer = await change(identity, each)
    if (answer.outcome === 'changed') return answer.results[0]
    if (answer.outcome === 'unchanged') return answer.faults[0]?.fault
    return answer
  }

  const append = (text: string, expectedVersion?: number): Change => ({
    verb: 'append',
    id: randomUUID(),
    key: 'plan',
    text,
    maxBytes: 20,
    expectedVersion,
  })
  const line = (text: string, maxBytes = 20): Change => ({
    ...{ verb: 'append', id: randomUUID(), key: 'plan', text, line: true, maxBytes },
  })
  const edit = (old: string, by: string, expectedVersion?: number): Change => ({
    ...{ verb: 'edit', key: 'plan', old, new: by, maxBytes: 20, expectedVersion },
  })
  const remove = (expectedVersion: number, key = 'plan'): Change => ({
    verb: 'delete',
    key,
    expectedVersion,
  })
  const restore = (version: number, expectedVersion: number, key = 'plan'): Change => ({
    verb: 'restore',
    key,
    version,
    expectedVersion,
  })
  const comingAndGoing = (key: string, version = 1): Change[] => [
    { verb: 'write', ...newWrite({ key }) },
    remove(version, key),
  ]

  const creating = (keys: readonly string[]): Change[] =>
    keys.map((key) => ({ verb: 'write', ...newWrite({ key }) }))

  const rename = (from: string, to: string, expectedVersion: number): Change => ({
    verb: 'rename',
    from,
    to,
    expectedVersion,
  })

  async function versions(identity: Identity, key = 'plan', before?: number, limit = 100) {
    const answer = await fixture.store().listVersions(identity, key, before, limit)
    return answer.outcome === 'versions' ? answer.versions.map(({ version }) => version) : answer
  }

  async function events(identity: Identity, after = 0) {
    const answer = await fixture.store().eventsAfter(identity, after, 100)
    return answer.outcome === 'events' ? answer.events : []
  }

  async function keys(identity: Identity, query: Parameters<typeof newQuery>[0] = {}) {
    const answer = await fixture.store().listMemories(identity, newQuery(query))
    return answer.outcome === 'memories' ? answer.memories.map(({ key }) => key) : answer
  }

  test('a patch changes what it names and leaves the rest', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { text: 'one', metadata: '{"a":1}' })
    const patch = { verb: 'patch', key: 'plan' } as const
    expect(await one(agent, { ...patch, text: 'two', expectedVersion: 1 })).toMatchObject({
      outcome: 'saved',
      memory: { text: 'two', metadata: '{"a":1}', version: 2, updatedAt: NOON + 5 },
    })
    expect(await one(agent, { ...patch, metadata: '{"b":2}', expectedVersion: 2 })).toMatchObject({
      memory: { text: 'two', metadata: '{"b":2}', version: 3 },
    })
    expect(await one(agent, { ...patch, text: 'x', expectedVersion: 2 })).toMatchObject(conflict(3))
    expect(
      await one(agent, { ...patch, key: 'other', text: 'x', expectedVersion: 1 }),
    ).toMatchObject(conflict(0))
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({
      memory: { text: 'two', metadata: '{"b":2}', version: 3 },
    })
  })

  test.each([
    [['a', 'b', 'c'], 'a\nb\nc'],
    [['a\n', 'b'], 'a\nb'],
    [['a\n\n', 'b'], 'a\n\nb'],
    [['a', '\nb'], 'a\nb'],
    [['a\r\nb', 'c', 'd\r\n', 'e'], 'a\r\nb\r\nc\r\nd\r\ne'],
    [['a\r', 'b'], 'a\rb'],
    [['день', 'ніч'], 'день\nніч'],
    [['\n', 'b'], '\nb'],
  ])('lines %j become the text %j', async (lines, text) => {
    const { agent } = await fixture.agent()
    for (const each of lines) await one(agent, line(each))
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({ memory: { text } })
  })

  test('a line end counts, is added after what a batch has added, and to no empty text', async () => {
    const { agent } = await fixture.agent()
    expect(await one(agent, line('x'.repeat(18)))).toMatchObject({ memory: { version: 1 } })
    const full = { outcome: 'too_large', bytes: 18, maxBytes: 20 }
    expect(await one(agent, line('yz'))).toEqual(full)
    expect(await one(agent, line('y'))).toMatchObject({ memory: { version: 2 } })
    await one(agent, remove(2))
    expect(await one(agent, line('new'))).toMatchObject({ memory: { text: 'new' } })
    await change(agent, line('a'), append('b'), line('c'))
    const { memory } = { memory: { text: 'new\nab\nc' } }
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({ memory })
  })

  test('of lines at once each is one of its own', async () => {
    const { agent } = await fixture.agent()
    const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`)
    await Promise.all(lines.map((each) => change(agent, line(each, 16_384))))
    const found = await fixture.store().readMemory(agent, 'plan')
    const text = found.outcome === 'found' ? found.memory.text : ''
    expect(text.split('\n').toSorted()).toEqual(lines.toSorted())
  })

  test('an append creates, adds to whatever is there, and stops at the limit', async () => {
    const { agent } = await fixture.agent()
    expect(await one(agent, append('день'))).toMatchObject({ memory: { text: 'день', version: 1 } })
    expect(await one(agent, append('ніч'))).toMatchObject({ memory: { text: 'деньніч' } })
    expect(await one(agent, append('x', 1))).toMatchObject(conflict(2))
    const full = { outcome: 'too_large', bytes: 14, maxBytes: 20 }
    expect(await one(agent, append('1234567'))).toEqual(full)
    expect(await one(agent, append('123456', 2))).toMatchObject({ memory: { version: 3 } })
  })

  test('a delete is a version: the old one conflicts, and what is created gets the next', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const deleted = { version: 2, deletedAt: NOON + 5 }
    expect(await one(agent, remove(2))).toMatchObject(conflict(1))
    expect(await one(agent, remove(1))).toEqual({ outcome: 'deleted', key: 'plan', deleted })
    expect(await one(agent, remove(1))).toEqual({ outcome: 'missing', deleted })
    expect(await one(agent, remove(1, 'never'))).toEqual({ outcome: 'missing' })
    const read = (key: string) => fixture.store().readMemory(agent, key)
    expect(await Promise.all(['plan', 'never', 'plan'].map(read))).toEqual([
      { outcome: 'missing', deleted },
      { outcome: 'missing' },
      { outcome: 'missing', deleted },
    ])
    expect(await read('plan')).toEqual({ outcome: 'missing', deleted })
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 0 })
    for (const expectedVersion of [1, 2]) {
      expect(await fixture.write(agent, { expectedVersion })).toEqual({
        ...conflict(0),
        updatedAt: undefined,
        sameContent: false,
        deleted,
      })
    }
    const id = randomUUID()
    expect(await fixture.write(agent, { id })).toMatchObject({
      outcome: 'saved',
      memory: { id, version: 3, createdAt: NOON + 5, updatedAt: NOON + 5 },
    })
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 1 })
    expect(await versions(agent)).toEqual([3, 2, 1])
  })

  test('versions are listed newest first, page by page, each with its author', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { text: 'слово' })
    await fixture.write(
      { ...operator, via: 'console', account: 'a@b.example' },
      { expectedVersion: 1 },
    )
    await one({ ...agent, via: 'mcp' }, remove(2))
    expect(await fixture.store().listVersions(agent, 'plan', undefined, 2)).toEqual({
      outcome: 'versions',
      versions: [
        {
          version: 3,
          operation: 'delete',
          bytes: 0,
          by: { as: 'agent', via: 'mcp' },
          createdAt: NOON + 5,
        },
        {
          version: 2,
          operation: 'write',
          bytes: 6,
          by: { as: 'operator', via: 'console', account: 'a@b.example' },
          createdAt: NOON,
        },
      ],
      next: 2,
    })
    expect(await fixture.store().listVersions(agent, 'plan', 2, 2)).toMatchObject({
      versions: [{ version: 1, operation: 'write', bytes: 10, by: { as: 'agent', via: 'api' } }],
      next: undefined,
    })
    expect(await versions(agent, 'never')).toEqual({ outcome: 'missing' })
    const page = (limit: number) => fixture.store().listVersions(agent, 'plan', undefined, limit)
    expect(await page(1)).toMatchObject({ versions: [{ version: 3 }], next: 3 })
    expect(await page(3)).toMatchObject({ versions: [{}, {}, { version: 1 }], next: undefined })
  })

  test('keys are a tree, parted by dots, of the memories that are there', async () => {
    const { agent } = await fixture.agent()
    const branches = async (prefix = '', limit = 10) => {
      const answer = await fixture.store().listBranches(agent, { prefix, limit })
      return answer.outcome === 'branches'
        ? answer.branches.map((each) => `${each.prefix} ${each.memories}`)
        : answer
    }
    expect(await branches()).toEqual([])
    for (const key of ['a.b.c', 'a.b', 'a.d', 'a-b.x', 'a', 'B_1.y', '.z', 'c.', 'gone.x']) {
      await fixture.write(agent, { key })
    }
    await change(agent, remove(1, 'gone.x'))
    expect(await branches()).toEqual(['. 1', 'B_1. 1', 'a-b. 1', 'a. 3', 'c. 1'])
    expect(await branches('', 2)).toEqual(['. 1', 'B_1. 1'])
    expect(await branches('a.')).toEqual(['a.b. 1'])
    expect(await branches('a')).toEqual(['a-b. 1', 'a. 3'])
    expect(await branches('a.b.')).toEqual([])
  })

  test('what was deleted is listed by key while it can be restored, with who deleted it', async () => {
    const { agent, operator } = await fixture.agent()
    const deleted = async (after?: string, limit = 10, prefix = '') => {
      const answer = await fixture.store().listDeleted(agent, { prefix, after, limit })
      return answer.outcome === 'deleted' ? answer : []
    }
    await change(agent, ...['b', 'a', 'c'].flatMap((key) => comingAndGoing(key)))
    await change(operator, ...comingAndGoing('d'))
    await fixture.write(agent, { key: 'e' })
    const gone = (key: string, as: 'agent' | 'operator') => ({
      ...{ key, version: 2, deletedAt: NOON + 5, lastVersion: 1, bytes: 6 },
      by: expect.objectContaining({ as }),
    })
    const memories = [...['a', 'b', 'c'].map((key) => gone(key, 'agent')), gone('d', 'operator')]
    expect(await deleted()).toEqual({ outcome: 'deleted', memories, next: undefined })
    expect(await deleted(undefined, 2)).toMatchObject({ memories: memories.slice(0, 2), next: 'b' })
    expect(await deleted('b', 2)).toMatchObject({ memories: memories.slice(2), next: undefined })
    expect(await deleted(undefined, 9, 'c')).toMatchObject({ memories: memories.slice(2, 3) })
    // Brought back, renamed and erased ones are not; of several deletes the last text counts.
    await one(agent, restore(1, 0, 'a'))
    await one(agent, rename('a', 'z', 3))
    await fixture.store().eraseMemory(operator, 'b', 'all', NOON + 6)
    await one(agent, restore(1, 0, 'c'))
    await one(agent, remove(3, 'c'))
    await fixture.store().eraseMemory(operator, 'c', [3], NOON + 6)
    expect(await deleted()).toMatchObject({
      memories: [
        { key: 'c', version: 4, lastVersion: 1 },
        { key: 'd', lastVersion: 1 },
      ],
    })
    const back = await one(agent, restore(1, 0, 'c'))
    expect(back).toMatchObject({ outcome: 'saved' })
    // A key with a prefix sees no text that was made under another name.
    await fixture.write(agent, { key: 'secret' })
    await change(agent, rename('secret', 'mine', 1), remove(2, 'mine'))
    const named = await fixture.named(operator, { prefix: 'mine' })
    const query = { prefix: 'mine', after: undefined, limit: 9 }
    const seen = () => fixture.store().listDeleted(named, query)
    expect(await seen()).toMatchObject({ memories: [{ key: 'mine', lastVersion: 2 }] })
    await fixture.store().eraseMemory(operator, 'mine', [2], NOON + 6)
    expect(await seen()).toMatchObject({ memories: [] })
    await change(agent, ...comingAndGoing('mine.too'))
    expect(await seen()).toMatchObject({ memories: [{ key: 'mine.too', lastVersion: 1 }] })
    // A page of which it sees nothing is not the last.
    const first = { ...query, limit: 1 }
    const page = { memories: [], next: 'mine' }
    expect(await fixture.store().listDeleted(named, first)).toMatchObject(page)
    expect(await fixture.store().listDeleted(named, { ...first, after: 'mine' })).toMatchObject({
      memories: [{ key: 'mine.too' }],
      next: undefined,
    })
    expect(await deleted(undefined, 9, 'mine')).toMatchObject({
      memories: [
        { key: 'mine', lastVersion: 1 },
        { key: 'mine.too', lastVersion: 1 },
      ],
    })
  })

  test('an edit replaces the passage that is there once, and nothing else', async () => {
    const { agent } = await fixture.agent()
    const metadata = '{"a":1.0}'
    await fixture.write(agent, { text: 'aaa, b, $& c', metadata })
    expect(await one(agent, edit('b', "$'b$&", 1))).toMatchObject({
      outcome: 'saved',
      memory: { text: "aaa, $'b$&, $& c", metadata, version: 2 },
    })
    const there = { outcome: 'not_once', currentVersion: 2, updatedAt: NOON + 5 }
    expect(await one(agent, edit('B', 'x'))).toEqual({ ...there, occurrences: 0 })
    expect(await one(agent, edit('aa', 'x'))).toEqual({ ...there, occurrences: 2 })
    expect(await one(agent, edit('c', 'x', 1))).toMatchObject(conflict(2))
    expect(await one(agent, edit('c', 'x'.repeat(6)))).toEqual({
      ...{ outcome: 'too_large', bytes: 16, maxBytes: 20 },
    })
    expect(await one(agent, edit("aaa, $'b$&, $& c", ''))).toEqual({ outcome: 'emptied' })
    expect(await one(agent, edit("aaa, $'b$&, ", ''))).toMatchObject({ memory: { text: '$& c' } })
    expect(await versions(agent)).toEqual([3, 2, 1])
    await one(agent, remove(3))
    expect(await one(agent, edit('c', 'x'))).toMatchObject({
      outcome: 'missing',
      deleted: { version: 4 },
    })
    expect(await one(agent, edit('c', 'x', 3))).toMatchObject({ ...conflict(0) })
  })

  test('a protected memory is changed by the operator alone, until it is deleted', async () => {
    const { agent, operator } = await fixture.agent()
    const protect = (key: string, isProtected: boolean, who = operator) =>
      fixture.store().protectMemory(who, key, isProtected, NOON + 6)
    const listed = async () => {
      const answer = await fixture.store().listMemories(agent, newQuery())
      return answer.outcome === 'memories'
        ? answer.memories.filter((each) => each.protected).map(({ key }) => key)
        : answer
    }
    const forbidden = { outcome: 'protected' }
    expect(await protect('plan', true)).toEqual({ outcome: 'missing' })
    await change(agent, { verb: 'write', ...newWrite({ text: 'one' }) }, ...creating(['b']))
    expect(await protect('plan', true)).toEqual({ outcome: 'done', version: 1 })
    expect(await protect('plan', true)).toEqual({ outcome: 'done', version: 1 })
    const write = newWrite({ expectedVersion: 1, text: 'two' })
    const changes: readonly Change[] = [
      { verb: 'write', ...write },
      { verb: 'patch', key: 'plan', metadata: '{}', expectedVersion: 1 },
      append('!'),
      edit('one', 'two'),
      remove(1),
      restore(1, 1),
      rename('plan', 'c', 1),
    ]
    for (const each of changes) expect(await one(agent, each)).toEqual(forbidden)
    expect(await fixture.store().writeMemory(agent, write, NOON)).toEqual(forbidden)
    expect(await one(agent, remove(9))).toMatchObject(conflict(1))
    expect(await change(agent, remove(1, 'b'), append('!'))).toEqual({
      outcome: 'unchanged',
      faults: [{ at: 1, fault: forbidden }],
    })
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({
      memory: { text: 'one', version: 1, protected: true },
    })
    expect(await listed()).toEqual(['plan'])

    expect(await fixture.store().writeMemory(operator, write, NOON)).toMatchObject({
      memory: { version: 2 },
    })
    await change(operator, edit('two', 'three'), rename('plan', 'c', 3))
    expect(await listed()).toEqual(['c'])
    expect(await one(agent, remove(4, 'c'))).toEqual(forbidden)
    await change(agent, { verb: 'write', ...newWrite({ expectedVersion: 0, key: 'plan' }) })
    await change(operator, remove(4, 'c'))
    expect(await protect('c', true)).toMatchObject({ outcome: 'missing', deleted: { version: 5 } })
    expect(await one(agent, restore(3, 0, 'c'))).toMatchObject({ memory: { version: 6 } })
    expect(await listed()).toEqual([])

    await protect('c', true)
    expect(await protect('c', false)).toEqual({ outcome: 'done', version: 6 })
    expect(await one(agent, remove(6, 'c'))).toMatchObject({ outcome: 'deleted' })
    const told = (await events(agent)).filter(({ type }) => type.endsWith('protect'))
    expect(told.map(({ type, key, by }) => [type, key, by?.as])).toEqual([
      ['protect', 'plan', 'operator'],
      ['protect', 'c', 'operator'],
      ['unprotect', 'c', 'operator'],
    ])
  })

  test('each version says by which operation it was made', async () => {
    const { agent } = await fixture.agent()
    await one(agent, append('one'))
    await one(agent, { verb: 'patch', key: 'plan', text: 'two', expectedVersion: 1 })
    await one(agent, edit('two', '2'))
    await one(agent, remove(3))
    await one(agent, restore(1, 0))
    await one(agent, rename('plan', 'new', 5))
    const answer = await fixture.store().listVersions(agent, 'new', undefined, 10)
    const made = ['rename', 'restore', 'delete', 'edit', 'patch', 'append']
    expect(answer).toMatchObject({ versions: made.map((operation) => ({ operation })) })
  })

  test('a version is read as it was, and restored as a new one', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { text: 'one', metadata: '{"a":1}' })
    const written = await fixture.write(agent, { text: 'two', expectedVersion: 1 })
    const memory = written.outcome === 'saved' ? written.memory : undefined
    const read = (version: number) => fixture.store().readVersion(agent, 'plan', version)
    expect(await read(1)).toEqual({
      outcome: 'found',
      memory: { ...memory, text: 'one', metadata: '{"a":1}', version: 1 },
      currentVersion: 2,
      salt: expect.any(String),
    })
    expect(await read(2)).toMatchObject({ outcome: 'found', memory, currentVersion: 2 })
    expect(await read(3)).toEqual({ outcome: 'no_version' })
    expect(await fixture.store().readVersion(agent, 'never', 1)).toEqual({ outcome: 'missing' })
    expect(await one(agent, restore(1, 1))).toMatchObject(conflict(2))
    expect(await one(agent, restore(3, 2))).toEqual({ outcome: 'no_version' })
    expect(await one(agent, restore(1, 2))).toMatchObject({
      memory: { id: memory?.id, text: 'one', metadata: '{"a":1}', version: 3 },
    })
    expect(await versions(agent)).toEqual([3, 2, 1])
    await one(agent, remove(3))
    expect(await read(1)).toMatchObject({ memory: { version: 1 }, currentVersion: 0 })
  })

  test('what was deleted comes back with its id, and a delete is no text to come back', async () => {
    const { agent } = await fixture.agent()
    const id = randomUUID()
    await fixture.write(agent, { id, text: 'one' })
    await one(agent, remove(1))
    expect(await one(agent, restore(1, 2))).toMatchObject({
      ...conflict(0),
      deleted: { version: 2 },
    })
    expect(await one(agent, restore(2, 0))).toEqual({ outcome: 'no_version' })
    expect(await fixture.store().readVersion(agent, 'plan', 2)).toEqual({ outcome: 'no_version' })
    expect(await one(agent, restore(1, 0))).toMatchObject({
      memory: { id, text: 'one', version: 3, createdAt: NOON, updatedAt: NOON + 5 },
    })
  })

  test('a rename keeps id and history, and leaves the number under the old name', async () => {
    const { agent } = await fixture.agent()
    const id = randomUUID()
    await fixture.write(agent, { id, key: 'old', text: 'one' })
    await fixture.write(agent, { key: 'old', text: 'two', expectedVersion: 1 })
    await fixture.write(agent, { key: 'taken' })
    expect(await one(agent, rename('old', 'new', 1))).toMatchObject(conflict(2))
    expect(await one(agent, rename('old', 'taken', 2))).toEqual({ outcome: 'taken' })
    expect(await one(agent, rename('old', 'old', 2))).toEqual({ outcome: 'taken' })
    expect(await one(agent, rename('never', 'new', 1))).toEqual({ outcome: 'missing' })
    expect(await one(agent, rename('old', 'new', 2))).toMatchObject({
      memory: { id, key: 'new', text: 'two', version: 3, createdAt: NOON, updatedAt: NOON + 5 },
    })
    expect(await versions(agent, 'new')).toEqual([3, 2, 1])
    expect(await versions(agent, 'old')).toEqual([])
    expect(await fixture.store().readVersion(agent, 'new', 1)).toMatchObject({
      memory: { id, key: 'new', text: 'one', version: 1 },
    })
    for (const [version, outcome] of [
      [1, 'gone'],
      [3, 'gone'],
      [4, 'no_version'],
    ] as const) {
      expect(await fixture.store().readVersion(agent, 'old', version)).toEqual({ outcome })
    }
    expect(await one(agent, restore(3, 0, 'old'))).toEqual({ outcome: 'gone' })
    expect(await one(agent, restore(4, 0, 'old'))).toEqual({ outcome: 'no_version' })
    expect(await fixture.write(agent, { key: 'old', expectedVersion: 2 })).toMatchObject({
      ...conflict(0),
      deleted: { version: 3, deletedAt: NOON + 5 },
    })
    expect(await fixture.write(agent, { key: 'old' })).toMatchObject({ memory: { version: 4 } })
    expect(await keys(agent)).toEqual(['new', 'old', 'taken'])
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 3 })
  })

  test('a name is taken as long as versions of what was deleted there are kept', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a' })
    await fixture.write(agent, { key: 'b', text: 'one' })
    await fixture.write(agent, { key: 'b', text: 'two', expectedVersion: 1 })
    expect(await change(agent, remove(2, 'b'), rename('a', 'b', 1))).toEqual({
      outcome: 'unchanged',
      faults: [{ at: 1, fault: { outcome: 'taken' } }],
    })
    await one(agent, remove(2, 'b'))
    expect(await one(agent, rename('a', 'b', 1))).toEqual({ outcome: 'taken' })
    await fixture.store().eraseMemory(operator, 'b', 'all', NOON)
    expect(await one(agent, rename('a', 'b', 1))).toMatchObject({
      memory: { key: 'b', version: 4 },
    })
  })

  test('changes are made together, each on those before it, or not at all', async () => {
    const { agent } = await fixture.agent()
    const [a, b] = [newWrite({ key: 'a', text: 'one' }), newWrite({ key: 'b' })]
    const done = await change(
      agent,
      { verb: 'write', ...a },
      { verb: 'patch', key: 'a', text: 'two', expectedVersion: 1 },
      { verb: 'write', ...b },
      rename('a', 'c', 2),
      remove(1, 'b'),
      restore(1, 0, 'b'),
      { verb: 'read', key: 'c' },
      { verb: 'read', key: 'a' },
      restore(1, 3, 'c'),
    )
    expect(done).toMatchObject({
      outcome: 'changed',
      results: [
        { outcome: 'saved', memory: { key: 'a', text: 'one', version: 1 } },
        { outcome: 'saved', memory: { key: 'a', text: 'two', version: 2 } },
        { outcome: 'saved', memory: { key: 'b', version: 1 } },
        { outcome: 'saved', memory: { key: 'c', text: 'two', version: 3 } },
        { outcome: 'deleted', key: 'b', deleted: { version: 2 } },
        { outcome: 'saved', memory: { key: 'b', version: 3, id: b.id } },
        { outcome: 'found', memory: { key: 'c', text: 'two', version: 3 } },
        { outcome: 'missing', deleted: { version: 3 } },
        { outcome: 'saved', memory: { key: 'c', text: 'one', version: 4, id: a.id } },
      ],
    })
    expect(await keys(agent)).toEqual(['b', 'c'])
    expect((await events(agent)).map(({ id, type, key }) => [id, type, key])).toEqual([
      [1, 'write', 'a'],
      [2, 'patch', 'a'],
      [3, 'write', 'b'],
      [4, 'rename', 'c'],
      [5, 'delete', 'b'],
      [6, 'restore', 'b'],
      [7, 'restore', 'c'],
    ])
    const failed = await change(
      agent,
      remove(3, 'b'),
      remove(1, 'c'),
      { verb: 'write', ...newWrite({ key: 'd' }) },
      remove(1, 'never'),
    )
    expect(failed).toMatchObject({
      outcome: 'unchanged',
      faults: [
        { at: 1, fault: conflict(4) },
        { at: 3, fault: { outcome: 'missing' } },
      ],
    })
    expect(await keys(agent)).toEqual(['b', 'c'])
    expect(await events(agent)).toHaveLength(7)
  })

  test('in a batch what was stored comes back under whatever name it has by then', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['a', 'b', 'c']) {
      await fixture.write(agent, { key, text: `${key} one`, metadata: `{"${key}":1}` })
      await fixture.write(agent, { key, text: `${key} two`, expectedVersion: 1 })
    }
    await one(agent, remove(2, 'c'))
    const done = await change(
      agent,
      restore(1, 2, 'a'),
      restore(1, 2, 'b'),
      restore(2, 3, 'b'),
      rename('a', 'd', 3),
      restore(2, 4, 'd'),
      rename('d', 'e', 5),
      restore(1, 6, 'e'),
      restore(1, 0, 'c'),
      { verb: 'write', ...newWrite({ key: 'a', text: 'a anew' }) },
    )
    expect(done).toMatchObject({
      outcome: 'changed',
      results: [
        { memory: { key: 'a', text: 'a one', metadata: '{"a":1}', version: 3 } },
        { memory: { key: 'b', text: 'b one', metadata: '{"b":1}', version: 3 } },
        { memory: { key: 'b', text: 'b two', version: 4 } },
        { memory: { key: 'd', text: 'a one', version: 4 } },
        { memory: { key: 'd', text: 'a two', version: 5 } },
        { memory: { key: 'e', text: 'a two', version: 6 } },
        { memory: { key: 'e', text: 'a one', metadata: '{"a":1}', version: 7 } },
        { memory: { key: 'c', text: 'c one', version: 4 } },
        { memory: { key: 'a', text: 'a anew' } },
      ],
    })
    const failed = await change(agent, restore(2, 7, 'e'), restore(3, 4, 'c'), restore(1, 5, 'a'))
    expect(failed).toMatchObject({
      faults: [
        { at: 1, fault: { outcome: 'no_version' } },
        { at: 2, fault: { outcome: 'gone' } },
      ],
    })
    expect(await change(agent, { verb: 'read', key: 'e' })).toEqual({
      outcome: 'changed',
      results: [
        {
          outcome: 'found',
          memory: {
            ...{ id: expect.any(String), key: 'e', text: 'a one', metadata: '{"a":1}' },
            ...{ version: 7, createdAt: NOON, updatedAt: NOON + 5 },
          },
        },
      ],
    })
  })

  test('a revoked token and a paused agent change nothing', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent)
    await fixture.store().setStatus(operator, 'paused', NOON)
    expect(await change(agent, remove(1))).toEqual({ outcome: 'paused' })
    // What was done before it was paused is in the log none the less.
    expect(await fixture.store().recordEvent(agent, 'export', NOON)).toBe(true)
    expect((await events(operator)).at(-1)).toMatchObject({ type: 'export', by: { as: 'agent' } })
    const forged = { ...operator, tokenHash: 'f'.repeat(64) }
    const revoked = { outcome: 'revoked' }
    expect(await change(forged, remove(1))).toEqual(revoked)
    expect(await fixture.store().eraseMemory(forged, 'plan', 'all', NOON)).toEqual(revoked)
    expect(await fixture.store().listMemories(forged, newQuery())).toEqual(revoked)
    expect(await fixture.store().readVersion(forged, 'plan', 1)).toEqual(revoked)
    expect(await fixture.store().listVersions(forged, 'plan', undefined, 1)).toEqual(revoked)
    expect(await fixture.store().listDeleted(forged, { prefix: '', limit: 1 })).toEqual(revoked)
    expect(await fixture.store().listBranches(forged, { prefix: '', limit: 1 })).toEqual(revoked)
    expect(await fixture.store().eventsAfter(forged, 0, 1)).toEqual(revoked)
    expect(await fixture.store().recordEvent(forged, 'export', NOON)).toBe(false)
    expect(await change(operator, remove(1))).toMatchObject({ outcome: 'changed' })
  })

  test('lists give metadata, sizes, and whole texts where they are asked for', async () => {
    const { agent } = await fixture.agent()
    const written = await fixture.write(agent, { text: 'слово', metadata: '{"a":1.0}' })
    const memory = written.outcome === 'saved' ? written.memory : undefined
    const list = (whole: boolean) => fixture.store().listMemories(agent, newQuery({ whole }))
    const { text, ...rest } = memory ?? { text: '' }
    const summary = { ...rest, bytes: 10, change: 1 }
    expect(await list(false)).toEqual({
      outcome: 'memories',
      memories: [summary],
      next: undefined,
      lastEvent: 1,
    })
    expect(await list(true)).toMatchObject({ memories: [{ ...summary, text }] })
  })

  test('lists go back from where they began, in their own order, by key and by change', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['b', 'a.2', 'a.1', 'c', 'a.3']) await fixture.write(agent, { key })
    async function inFront(query: Parameters<typeof newQuery>[0]) {
      const answer = await fixture.store().listMemories(agent, newQuery(query))
      if (answer.outcome !== 'memories') throw new Error(answer.outcome)
      return [answer.memories.map(({ key }) => key), answer.next]
    }
    expect(await inFront({ before: 'c', limit: 2 })).toEqual([['a.3', 'b'], 'a.3'])
    expect(await inFront({ before: 'a.3', limit: 2 })).toEqual([['a.1', 'a.2'], undefined])
    expect(await inFront({ before: 'a.1', limit: 2 })).toEqual([[], undefined])
    expect(await inFront({ before: 'b', prefix: 'a.', limit: 1 })).toEqual([['a.3'], 'a.3'])
    const all = await fixture.store().listMemories(agent, newQuery({ order: 'changed' }))
    const cursors = all.outcome === 'memories' ? all.memories.map(({ change }) => `${change}`) : []
    const [newest, second, third] = cursors
    const changed = { order: 'changed', limit: 2 } as const
    expect(await inFront({ ...changed, before: third })).toEqual([['a.3', 'c'], undefined])
    expect(await inFront({ ...changed, before: second })).toEqual([['a.3'], undefined])
    expect(await inFront({ ...changed, before: third, limit: 1 })).toEqual([['c'], second])
    expect(await inFront({ ...changed, before: newest })).toEqual([[], undefined])
  })

  test('lists go on where they stopped, by key and by change, with a prefix', async () => {
    const { agent } = await fixture.agent()
    for (const key of ['b', 'a.2', 'a.1', 'c', 'a.3']) await fixture.write(agent, { key })
    await fixture.write(agent, { key: 'b', expectedVersion: 1 })
    await one(agent, remove(1, 'c'))
    async function pages(query: Parameters<typeof newQuery>[0]) {
      const found: string[][] = []
      for (let after: string | undefined; ; ) {
        const answer = await fixture.store().listMemories(agent, newQuery({ ...query, after }))
        if (answer.outcome !== 'memories') throw new Error(answer.outcome)
        found.push(answer.memories.map(({ key }) => key))
        after = answer.next
        if (after === undefined) return found
      }
    }
    expect(await pages({ limit: 2 })).toEqual([
      ['a.1', 'a.2'],
      ['a.3', 'b'],
    ])
    expect(await pages({ limit: 3, order: 'changed' })).toEqual([['b', 'a.3', 'a.1'], ['a.2']])
    expect(await pages({ prefix: 'a.', limit: 2 })).toEqual([['a.1', 'a.2'], ['a.3']])
    expect(await pages({ prefix: 'a.', order: 'changed' })).toEqual([['a.3', 'a.1', 'a.2']])
    // Each has 2 bytes of metadata.
    for (const maxBytes of [3, 4]) {
      expect(await pages({ maxBytes })).toEqual([
        ['a.1', 'a.2'],
        ['a.3', 'b'],
      ])
    }
    expect(await pages({ whole: true, maxBytes: 9 })).toEqual([
      ['a.1', 'a.2'],
      ['a.3', 'b'],
    ])
  })

  test('brief lists have short texts, and of longer ones the first line', async () => {
    const { agent } = await fixture.agent()
    const short = 'ї'.repeat(BRIEF_BYTES / 2)
    const texts = {
      a: short,
      b: `${short}.`,
      c: `\n \r\n  # Title \r\nand more\n${short}`,
      d: '\n'.repeat(BRIEF_BYTES + 1),
      e: `${'𝒳'.repeat(150)}\n${short}`,
    }
    for (const [key, text] of Object.entries(texts)) await fixture.write(agent, { key, text })
    for (const order of ['key', 'changed'] as const) {
      const answer = await fixture.store().listMemories(agent, newQuery({ brief: true, order }))
      const memories = answer.outcome === 'memories' ? answer.memories : []
      const shown = memories.map(({ key, text, snippet }) => ({ key, text, snippet }))
      expect(shown.toSorted((x, y) => (x.key < y.key ? -1 : 1))).toEqual([
        { key: 'a', text: short },
        { key: 'b', snippet: `${'ї'.repeat(198)}…` },
        { key: 'c', snippet: '# Title' },
        { key: 'd' },
        { key: 'e', snippet: '𝒳'.repeat(150) },
      ])
    }
  })

  test('a memory is pinned by its metadata, whatever the spelling, and until it changes', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', metadata: '{"pinned":true}' })
    await fixture.write(agent, { key: 'b', metadata: '{"pinned":"true"}' })
    await fixture.write(agent, { key: 'c', metadata: '{"p\\u0069nned": true}' })
    await fixture.write(agent, { key: 'd', metadata: '{"x":{"pinned":true}}' })
    await fixture.write(agent, { key: 'e', metadata: '{"pinned":1}' })
    expect(await keys(agent, { pinned: true })).toEqual(['a', 'c'])
    expect(await keys(agent, { pinned: true, order: 'changed' })).toEqual(['c', 'a'])
    await fixture.write(agent, { key: 'a', expectedVersion: 1 })
    await one(agent, remove(1, 'c'))
    expect(await keys(agent, { pinned: true })).toEqual([])
  })

  test('a memory whose history is erased stays pinned', async () => {
    const { agent, operator } = await fixture.agent()
    const metadata = '{"pinned":true}'
    for (const n of [0, 1, 2]) await fixture.write(agent, { metadata, expectedVersion: n })
    await fixture.store().eraseMemory(operator, 'plan', [1], NOON)
    expect(await keys(agent, { pinned: true })).toEqual(['plan'])
    await fixture.store().eraseMemory(operator, 'plan', 'history', NOON)
    expect(await keys(agent, { pinned: true })).toEqual(['plan'])
    await fixture.store().eraseMemory(operator, 'plan', 'all', NOON)
    expect(await keys(agent, { pinned: true })).toEqual([])
  })

  test('the log tells what happened and who did it, and goes on from any event', async () => {
    const { agent, operator } = await fixture.agent()
    await fixture.write(agent, { key: 'a' })
    await one(agent, rename('a', 'b', 1))
    expect(await fixture.store().recordEvent(operator, 'export', NOON + 9)).toBe(true)
    const by = { as: 'agent', via: 'api' }
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    const hashed = { content: hash, hash }
    expect(await fixture.store().eventsAfter(agent, 0, 2)).toEqual({
      outcome: 'events',
      events: [
        { id: 1, type: 'write', key: 'a', version: 1, by, createdAt: NOON, ...hashed },
        {
          ...{ id: 2, type: 'rename', key: 'b', from: 'a', version: 2, by, createdAt: NOON + 5 },
          ...hashed,
        },
      ],
      previous: { id: 0, hash },
      ...{ first: 1, last: 3, newest: 3, reached: 2, missed: false, looked: 2 },
    })
    expect(await events(agent, 2)).toEqual([
      { id: 3, type: 'export', by: { as: 'operator', via: 'api' }, createdAt: NOON + 9, hash },
    ])
    expect(await events(agent, 3)).toEqual([])
    const { agent: other } = await fixture.agent()
    expect(await events(other)).toEqual([])
  })

  test('of a long log as many events come as are asked for, wherever they lie', async () => {
    const { agent } = await fixture.agent()
    await change(
      agent,
      ...Array.from({ length: 70 }, (_, n) => {
        return { verb: 'write', ...newWrite({ key: `k${n}` }) } as const
      }),
    )
    const idsAfter = async (id: number, limit: number) => {
      const answer = await fixture.store().eventsAfter(agent, id, limit)
      return answer.outcome === 'events' ? answer.events.map((event) => event.id) : answer
    }
    const ids = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, n) => from + n)
    expect(await idsAfter(0, 66)).toEqual(ids(1, 66))
    expect(await idsAfter(60, 4)).toEqual(ids(61, 64))
    expect(await idsAfter(60, 100)).toEqual(ids(61, 70))
    expect(await idsAfter(70, 1)).toEqual([])
    expect(await idsAfter(71, 1)).toEqual([])
  })

  test('of a log those events come that name a key with the prefix, out of so many rows', async () => {
    const { agent, operator } = await fixture.agent()
    await change(agent, ...creating(['a', 'in', 'in.', 'in.a', 'in.b', 'io']))
    await one(agent, rename('in.a', 'gone', 1))
    await one(agent, rename('a', 'in.new', 1))
    await fixture.named(operator)
    const look = async (id: number, limit: number, prefix = 'in.') => {
      const answer = await fixture.store().eventsAfter(agent, id, limit, prefix)
      if (answer.outcome !== 'events') throw new Error(answer.outcome)
      const { reached, looked, last } = answer
      return { ids: answer.events.map((event) => event.id), reached, looked, last }
    }
    const last = 9
    expect(await look(0, 100)).toEqual({ ids: [3, 4, 5, 7, 8], reached: 9, looked: 9, last })
    expect(await look(0, 2)).toEqual({ ids: [3, 4], reached: 4, looked: 4, last })
    expect(await look(5, 1)).toEqual({ ids: [7], reached: 7, looked: 2, last })
    expect(await look(8, 2)).toEqual({ ids: [], reached: 9, looked: 1, last })
    expect(await look(9, 2)).toEqual({ ids: [], reached: 9, looked: 0, last })
    expect(await look(0, 100, '{')).toMatchObject({ reached: 9 })
    await change(agent, ...creating(Array.from({ length: ROWS_PER_LOOK }, (_, n) => `out.${n}`)))
    await fixture.write(agent, { key: 'in.z' })
    const end = last + ROWS_PER_LOOK + 1
    const bounds = { looked: ROWS_PER_LOOK, last: end }
    expect(await look(5, 100)).toEqual({ ids: [7, 8], reached: 5 + ROWS_PER_LOOK, ...bounds })
    expect(await look(last, 100)).toEqual({ ids: [], reached: end - 1, ...bounds })
    expect(await look(end - 1, 100)).toMatchObject({ ids: [end], reached: end, looked: 1 })
  })

  describe('pages of the log', () => {
    type Wanted = Omit<EventsQuery, 'limit' | 'order' | 'after'>
    const isIn = (name: string | undefined, { key, prefix }: Wanted) =>
      name !== undefined && (key === undefined ? name.startsWith(prefix) : name === key)
    const isBy = ({ by }: HomeEvent, wanted: string) => (by?.key?.id ?? by?.as) === wanted
    const isWanted = (event: HomeEvent, wanted: Wanted): boolean =>
      (wanted.since === undefined || event.createdAt >= wanted.since) &&
      ((wanted.key === undefined && wanted.prefix === '') ||
        isIn(event.key, wanted) ||
        isIn(event.from, wanted)) &&
      (wanted.type === undefined || event.type === wanted.type) &&
      (wanted.by === undefined || isBy(event, wanted.by))

    /** All pages: their events, and the rows that each looked at. */
    async function paged(identity: Identity, query: EventsQuery) {
      const found: HomeEvent[] = []
      const looks: number[] = []
      for (let after = query.after; ; ) {
        const page = await fixture.store().listEvents(identity, { ...query, after })
        if (page.outcome !== 'page') throw new Error(page.outcome)
        found.push(...page.events)
        looks.push(page.looked)
        if (page.next === undefined) return { found, looks }
        after = page.next
      }
    }

    async function busyHome() {
      const { agent, operator } = await fixture.agent()
      const named = await fixture.named(operator)
      for (let n = 1; n <= 70; n++) {
        const who = [agent, operator, named][n % 3] ?? agent
        const write = newWrite({ key: `${'abc'[n % 2]}.${n}` })
        await fixture.store().writeMemory(who, write, NOON + n)
      }
      await one(agent, rename('b.1', 'c.1', 1))
      await one(agent, remove(1, 'a.2'))
      return { agent, named: named.key.id }
    }

    test('have what is asked for in either order, and nothing twice', async () => {
      const { agent, named } = await busyHome()
      const all = await events(agent)
      expect(all).toHaveLength(73)
      const wanted: readonly Partial<Wanted>[] = [
        ...[{}, { prefix: 'b.' }, { key: 'b.1' }, { key: 'c.1' }, { key: 'b' }],
        ...([{ type: 'delete' }, { type: 'write', prefix: 'a.' }, { type: 'pause' }] as const),
        ...[{ by: 'agent' }, { by: 'operator' }, { by: named }, { by: randomUUID() }],
        ...[0, 1, 5, 69, 70, 71].map((n) => ({ since: NOON + n })),
        ...[{ since: NOON + 30, by: named, prefix: 'b.' }],
      ]
      for (const each of wanted) {
        const query = { prefix: '', ...each }
        const right = all.filter((event) => isWanted(event, query))
        for (const limit of [right.length > 20 ? 7 : 1, 100]) {
          const oldest = await paged(agent, { ...query, order: 'oldest', limit })
          expect(oldest.found).toEqual(right)
          const newest = await paged(agent, { ...query, order: 'newest', limit })
          expect(newest.found).toEqual(right.toReversed())
        }
      }
      const from = { prefix: '', order: 'newest', after: 5, limit: 3 } as const
      expect((await paged(agent, from)).found.map(({ id }) => id)).toEqual([4, 3, 2, 1])
    })

    test('look at no more rows than one call may, however long the log is', async () => {
      const { agent } = await fixture.agent()
      const early = { key: 'early', text: 'x' }
      await fixture.write(agent, early)
      const many = Array.from({ length: ROWS_PER_LOOK * 2 }, (_, n) => `k${n}`)
      await fixture.store().changeMemories(agent, creating(many), NOON + 60)
      const rare = { prefix: '', key: 'early', limit: 10 } as const
      for (const order of ['oldest', 'newest'] as const) {
        const { found, looks } = await paged(agent, { ...rare, order })
        expect(found).toMatchObject([{ id: 1, key: 'early' }])
        expect(looks).toEqual([ROWS_PER_LOOK, ROWS_PER_LOOK, 1])
      }
      const late = { prefix: '', order: 'oldest', limit: 10, since: NOON + 61 } as const
      const { found, looks } = await paged(agent, late)
      expect(found).toEqual([])
      expect(looks).toEqual([expect.any(Number)])
      expect(looks[0]).toBeLessThanOrEqual(64)
    })
  })

  test('after an id that the log does not have, or no longer, something is missed', async () => {
    await using few = await openFixture(engine, { events: 64 })
    const { agent } = await few.agent()
    for (let n = 0; n < 192; n++) await few.store().recordEvent(agent, 'export', NOON)
    const at = async (id: number) => {
      const answer = await few.store().eventsAfter(agent, id, 1_000)
      if (answer.outcome !== 'events') throw new Error(answer.outcome)
      const { missed, first, last, events } = answer
      expect([first, last]).toEqual([129, 192])
      return { missed, count: events.length }
    }
    expect(await at(0)).toEqual({ missed: true, count: 64 })
    expect(await at(127)).toEqual({ missed: true, count: 64 })
    expect(await at(128)).toEqual({ missed: false, count: 64 })
    expect(await at(192)).toEqual({ missed: false, count: 0 })
    expect(await at(193)).toEqual({ missed: true, count: 0 })
  })

  test('of homes, those are told in which more happened than was seen, and those that are gone', async () => {
    const [quiet, busy] = [await fixture.agent(), await fixture.agent()]
    for (const { agent } of [quiet, busy]) await fixture.write(agent)
    const gone = randomUUID()
    const seen = [quiet, busy].map(({ agent }) => [agent.agentId, 1] as const)
    const changed = () => fixture.store().changedHomes(new Map([...seen, [gone, 1]]))
    expect(await changed()).toEqual([gone])
    await fixture.write(busy.agent, { expectedVersion: 1 })
    expect((await changed()).toSorted()).toEqual([gone, busy.agent.agentId].toSorted())
    expect(await fixture.store().changedHomes(new Map())).toEqual([])
  })

  test('an event has the time of its version, also where the clock stepped back', async () => {
    const { agent } = await fixture.agent()
    const store = fixture.store()
    await store.writeMemory(agent, newWrite(), NOON + 9)
    await store.writeMemory(agent, newWrite({ expectedVersion: 1 }), NOON)
    await store.changeMemories(agent, [remove(2)], NOON)
    await store.writeMemory(agent, newWrite(), NOON)
    expect((await events(agent)).map(({ createdAt }) => createdAt)).toEqual(Array(4).fill(NOON + 9))
  })

  test('erasing takes history, some versions, or all of it, and the number stays', async () => {
    const { agent, operator } = await fixture.agent()
    for (const n of [0, 1, 2, 3, 4])
      await fixture.write(agent, { text: `v${n}`, expectedVersion: n })
    const erase = (what: 'all' | 'history' | number[], key = 'plan') =>
      fixture.store().eraseMemory(operator, key, what, NOON + 9)
    expect(await erase('all', 'never')).toEqual({ outcome: 'missing' })
    expect(await erase([2, 5])).toEqual({ outcome: 'current' })
    expect(await versions(agent)).toEqual([5, 4, 3, 2, 1])
    expect(await erase([2, 4, 77])).toEqual({ outcome: 'erased', versions: [2, 4] })
    expect(await versions(agent)).toEqual([5, 3, 1])
    expect(await fixture.store().readVersion(agent, 'plan', 2)).toEqual({ outcome: 'gone' })
    expect(await one(agent, restore(4, 5))).toEqual({ outcome: 'gone' })
    expect(await fixture.store().readVersion(agent, 'plan', 1)).toMatchObject({
      memory: { text: 'v0' },
    })
    expect(await erase('history')).toEqual({ outcome: 'erased', versions: [1, 3] })
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({
      memory: { text: 'v4', version: 5 },
    })
    expect(await erase('all')).toEqual({ outcome: 'erased', versions: [5] })
    expect(await fixture.store().readMemory(agent, 'plan')).toEqual({
      outcome: 'missing',
      deleted: { version: 6, deletedAt: NOON + 9 },
    })
    expect(await versions(agent)).toEqual([])
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 0 })
    expect(await fixture.write(agent, { expectedVersion: 5 })).toMatchObject({
      ...conflict(0),
      deleted: { version: 6, deletedAt: NOON + 9 },
    })
    expect(await erase('all')).toEqual({ outcome: 'erased', versions: [] })
    expect(await fixture.write(agent)).toMatchObject({ memory: { version: 7 } })
    // A delete is no text that is there.
    await one(agent, remove(7))
    expect(await erase([7, 8])).toEqual({ outcome: 'erased', versions: [7] })
    expect(await versions(agent)).toEqual([8])
  })

  test('the log tells an erasure’s version where it made one: where it took what was there', async () => {
    const { agent, operator } = await fixture.agent()
    const erase = (what: 'all' | 'history' | number[]) =>
      fixture.store().eraseMemory(operator, 'plan', what, NOON + 9)
    for (const n of [0, 1, 2]) await fixture.write(agent, { expectedVersion: n })
    for (const what of [[1], 'history', 'all', 'all', 'history'] as const) {
      await erase(typeof what === 'string' ? what : [...what])
    }
    await fixture.write(agent)
    expect((await events(agent)).map(({ type, version }) => [type, version])).toEqual([
      ...[1, 2, 3].map((version) => ['write', version]),
      ...[undefined, undefined, 4, undefined, undefined].map((version) => ['erase', version]),
      ['write', 5],
    ])
  })

  test('of 32 deletes and updates at once of one version, exactly one is made', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, n) =>
        n % 2 ? one(agent, remove(1)) : fixture.write(agent, { expectedVersion: 1 }),
      ),
    )
    const outcomes = tally(answers.map((each) => ({ outcome: each?.outcome ?? 'none' })))
    expect((outcomes.saved ?? 0) + (outcomes.deleted ?? 0)).toBe(1)
    expect(await versions(agent)).toEqual([2, 1])
    expect(await events(agent)).toHaveLength(2)
  })

  test('what happens at once is numbered without a gap', async () => {
    const { agent } = await fixture.agent()
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        n % 4
          ? fixture.write(agent, { key: `k${n}` })
          : change(agent, append(''), { verb: 'write', ...newWrite({ key: `k${n}` }) }),
      ),
    )
    const ids = (await events(agent)).map(({ id }) => id)
    expect(ids).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
    expect(await keys(agent, { order: 'changed' })).toHaveLength(41)
  })

  describe('within bounds', () => {
    let small: StoreFixture
    beforeAll(async () => {
      small = await openFixture(engine)
    })
    afterAll(() => small.close())

    /** Writes so many bytes, with those of the metadata. */
    const sized =
      (agent: Identity) =>
      (key: string, size: number, expectedVersion = 0) =>
        small.write(agent, { key, text: 'x'.repeat(size - 2), expectedVersion })

    test('what gives way does so however the memory was changed', async () => {
      await small.restart({ versions: 2, bytes: 1_000, events: 64 })
      const { agent } = await small.agent()
      const store = small.store()
      const write = (key: string, size: number, expectedVersion: number) => {
        const text = 'x'.repeat(size - 2)
        const sent = newWrite({ key, text, expectedVersion })
        return store.changeMemories(agent, [{ verb: 'write', ...sent }], NOON)
      }
      const isGone = async (key: string, version: number) =>
        (await store.readVersion(agent, key, version)).outcome === 'gone'
      for (let n = 0; n < 140; n++) await write('plan', 100, n)
      expect([await isGone('plan', 138), await isGone('plan', 139)]).toEqual([true, false])
      const events = await store.eventsAfter(agent, 0, 1_000)
      if (events.outcome !== 'events') throw new Error(events.outcome)
      expect(events.first).toBe(events.events[0]?.id)
      expect(events.events.length).toBeLessThan(128)
      await write('large', 850, 0)
      await write('large', 50, 1)
      expect([await isGone('plan', 139), await isGone('large', 1)]).toEqual([true, false])
      await write('large', 400, 2)
      expect(await isGone('large', 1)).toBe(true)
    })

    test('versions over the count give way together, once there are as many again', async () => {
      await small.restart({ versions: 10 })
      const { agent, operator } = await small.agent()
      /** Whatever is left of them is erased. */
      const leftOf = async (key: string, writes: number) => {
        for (let n = 0; n < writes; n++) {
          await small.store().writeMemory(agent, newWrite({ key, expectedVersion: n }), NOON)
        }
        const erased = await small.store().eraseMemory(operator, key, 'history', NOON)
        return erased.outcome === 'erased' ? erased.versions.length + 1 : erased
      }
      expect([await leftOf('a', 19), await leftOf('b', 20)]).toEqual([19, 10])
      // Where others have given up some, it need not wait until then.
      const left = await leftOf('c', 49)
      expect(left).toSatisfy((versions: number) => versions >= 10 && versions < 20)
    })

    test('a memory keeps its last versions, and those before them are gone', async () => {
      await small.restart({ versions: 3 })
      const { agent } = await small.agent()
      for (let n = 0; n < 12; n++) {
        await small.write(agent, { expectedVersion: n })
        const listed = await small.store().listVersions(agent, 'plan', undefined, 100)
        const kept = [n + 1, n, n - 1].filter((version) => version > 0)
        expect(listed).toMatchObject({ versions: kept.map((version) => ({ version })) })
      }
      expect(await small.store().readVersion(agent, 'plan', 9)).toEqual({ outcome: 'gone' })
      expect(await small.store().readVersion(agent, 'plan', 10)).toMatchObject({
        outcome: 'found',
      })
      // Nor are they on a later page, or restored, though they are not pruned yet.
      expect(await small.store().listVersions(agent, 'plan', 12, 2)).toMatchObject({
        versions: [{ version: 11 }, { version: 10 }],
        next: undefined,
      })
      const back = async (version: number) => {
        const restored: Change = { verb: 'restore', key: 'plan', expectedVersion: 12, version }
        const answer = await small.store().changeMemories(agent, [restored], NOON)
        return answer.outcome
      }
      expect([await back(9), await back(10)]).toEqual(['unchanged', 'changed'])
    })

    test('a home keeps its bytes: old versions give way, current texts never', async () => {
      await small.restart({ bytes: 1_000 })
      const { agent } = await small.agent()
      const write = sized(agent)
      await write('a', 300)
      await write('b', 400)
      await write('b', 300, 1)
      // 1,000 bytes are not more than that.
      expect(await small.store().readVersion(agent, 'b', 1)).toMatchObject({ outcome: 'found' })
      await write('b', 300, 2)
      expect(await small.store().readVersion(agent, 'b', 1)).toEqual({ outcome: 'gone' })
      expect(await small.store().readMemory(agent, 'a')).toMatchObject({ outcome: 'found' })
      expect(await write('c', 401)).toEqual({ outcome: 'over_quota', quota: 'bytes' })
      expect(await write('c', 400)).toMatchObject({ outcome: 'saved' })
      expect(await write('b', 301, 3)).toEqual({ outcome: 'over_quota', quota: 'bytes' })
      expect(await write('b', 299, 3)).toMatchObject({ outcome: 'saved' })
      expect(await small.store().readVersion(agent, 'b', 3)).toEqual({ outcome: 'gone' })
      const dropped = await small
        .store()
        .changeMemories(agent, [{ verb: 'delete', key: 'c', expectedVersion: 1 }], NOON)
      expect(dropped.outcome).toBe('changed')
      expect(await write('d', 401)).toMatchObject({ outcome: 'saved' })
    })

    /** How many are kept, and the oldest of them. */
    const keptOf = async (agent: Identity, key: string) => {
      const listed = await small.store().listVersions(agent, key, undefined, 2_000)
      if (listed.outcome !== 'versions') throw new Error(listed.outcome)
      return [listed.versions.length, listed.versions.at(-1)?.version]
    }

    test('a home that is over its bytes gives up a 64th of them, and no version more', async () => {
      await small.restart({ versions: 0, bytes: 100_000 })
      const { agent } = await small.agent()
      const write = sized(agent)
      for (let n = 0; n < 100; n++) await write('plan', 1_000, n)
      expect(await keptOf(agent, 'plan')).toEqual([100, 1])
      await write('plan', 1_000, 100)
      expect(await keptOf(agent, 'plan')).toEqual([98, 4])
      await write('plan', 1_000, 101)
      expect(await keptOf(agent, 'plan')).toEqual([99, 4])
      const restored = await small
        .store()
        .changeMemories(
          agent,
          [{ verb: 'restore', key: 'plan', version: 4, expectedVersion: 102 }],
          NOON,
        )
      expect(restored.outcome).toBe('changed')
    })

    test('small versions are given up 64 at once, and as many more as are over', async () => {
      await small.restart({ versions: 0, bytes: 64_000 })
      const { agent } = await small.agent()
      const write = sized(agent)
      for (let n = 0; n < 200; n++) await write('plan', 10, n)
      await write('a', 31_000)
      await write('b', 31_000)
      expect(await keptOf(agent, 'plan')).toEqual([200, 1])
      await write('plan', 10, 200)
      expect(await keptOf(agent, 'plan')).toEqual([137, 65])
      // 63,370 bytes are kept: of 1,630 more the 100 oldest are too many.
      await write('c', 1_630)
      expect(await keptOf(agent, 'plan')).toEqual([37, 165])
    })

    test('more versions than are looked at together give way to one text', async () => {
      await small.restart({ versions: 0, bytes: 64_000 })
      const { agent } = await small.agent()
      for (let made = 0; made < 1_100; made += 100) {
        const changes = Array.from(
          { length: 100 },
          (_, n): Change => ({
            ...{ verb: 'write', ...newWrite({ text: 'x'.repeat(8), expectedVersion: made + n }) },
          }),
        )
        expect((await small.store().changeMemories(agent, changes, NOON)).outcome).toBe('changed')
      }
      const write = sized(agent)
      await write('a', 30_000)
      expect(await keptOf(agent, 'plan')).toEqual([1_100, 1])
      await write('b', 33_900)
      expect(await keptOf(agent, 'plan')).toEqual([10, 1_091])
    })

    test('a home over bytes that were lowered takes what makes it smaller, and keeps its texts', async () => {
      await small.restart()
      const { agent } = await small.agent()
      const write = sized(agent)
      await write('a', 700)
      await write('b', 700)
      await write('b', 700, 1)
      await small.restart({ bytes: 1_000 })
      expect(await write('b', 701, 2)).toEqual({ outcome: 'over_quota', quota: 'bytes' })
      expect(await write('b', 600, 2)).toMatchObject({ outcome: 'saved' })
      const read = (version: number) => small.store().readVersion(agent, 'b', version)
      expect([await read(1), await read(2)]).toEqual([{ outcome: 'gone' }, { outcome: 'gone' }])
      expect(await write('b', 300, 3)).toMatchObject({ outcome: 'saved' })
      expect(await write('b', 290, 4)).toMatchObject({ outcome: 'saved' })
      expect(await read(3)).toEqual({ outcome: 'gone' })
      expect(await small.store().readMemory(agent, 'a')).toMatchObject({ outcome: 'found' })
      expect(await small.store().readProfile(agent)).toMatchObject({ memoryCount: 2, bytes: 990 })
    })

    test('of the log the newest events are kept', async () => {
      await small.restart({ events: 64 })
      const { agent, operator } = await small.agent()
      const firsts: number[] = []
      for (let n = 0; n < 140; n++) {
        await small.write(agent, { expectedVersion: n })
        const log = await small.store().eventsAfter(agent, 0, 1)
        if (log.outcome === 'events') firsts.push(log.first)
      }
      // As many again, and they give way together.
      expect(firsts).toEqual([...Array(127).fill(1), ...Array(13).fill(65)])
      const answer = await small.store().eventsAfter(agent, 0, 1_000)
      if (answer.outcome !== 'events') throw new Error(answer.outcome)
      expect([answer.last, answer.events[0]?.id]).toEqual([140, 65])
      expect(await small.store().readMemory(agent, 'plan')).toMatchObject({
        memory: { version: 140 },
      })
      // Also where nothing is written.
      for (let n = 0; n < 140; n++) await small.store().recordEvent(operator, 'export', NOON)
      const later = await small.store().eventsAfter(agent, 0, 1_000)
      if (later.outcome !== 'events') throw new Error(later.outcome)
      expect(later.last).toBe(280)
      expect(later.events.length).toBeLessThan(128)
    })

    test('versions of before a rename give way too', async () => {
      await small.restart({ versions: 0, bytes: 1_000 })
      const { agent } = await small.agent()
      const write = sized(agent)
      for (let n = 0; n < 4; n++) await write('a', 200, n)
      await small.store().changeMemories(agent, [rename('a', 'b', 4)], NOON)
      await write('c', 200)
      const then = async (version: number) =>
        (await small.store().readVersion(agent, 'b', version)).outcome
      expect([await then(1), await then(4), await then(5)]).toEqual(['gone', 'found', 'found'])
    })

    test('the highest version of a forgotten delete counts, however many lower ones follow it', async () => {
      await small.restart({ events: 1 })
      const { agent } = await small.agent()
      const store = small.store()
      const high = { verb: 'append', id: 'high', key: 'high', text: '.', maxBytes: 99 } as const
      const low = Array.from({ length: 300 }, (_, n) => comingAndGoing(`k${n}`)).flat()
      const highest = [...Array.from({ length: 8 }, () => high), remove(8, 'high')]
      await store.changeMemories(agent, [...highest, ...low], NOON)
      // They go a hundred at a time.
      for (const n of [1, 2]) await store.changeMemories(agent, comingAndGoing(`z${n}`, 10), NOON)
      expect(await store.readMemory(agent, 'high')).toEqual({ outcome: 'missing' })
      expect(await small.write(agent, { key: 'high' })).toMatchObject({ memory: { version: 10 } })
    })

    test('the oldest deletes are forgotten with the oldest events, and no version falls for it', async () => {
      await small.restart({ events: 64, bytes: 1_000 })
      const { agent } = await small.agent()
      const store = small.store()
      const comeAndGo = (at: number, ...names: string[]) =>
        store.changeMemories(
          agent,
          names.flatMap((key) => comingAndGoing(key)),
          NOON + at,
        )
      for (const n of [0, 1, 2, 3, 4]) await small.write(agent, { expectedVersion: n })
      await store.changeMemories(agent, [remove(5)], NOON)
      for (let n = 0; n < 126; n += 18) {
        const names = Array.from({ length: 18 }, (_, i) => `k${n + i}`)
        expect((await comeAndGo(n + 1, ...names)).outcome).toBe('changed')
      }
      expect(await store.readMemory(agent, 'plan')).toEqual({
        outcome: 'missing',
        deleted: { version: 6, deletedAt: NOON },
      })
      await comeAndGo(200, 'k126', 'k127')
      expect(await store.readMemory(agent, 'plan')).toEqual({ outcome: 'missing' })
      expect(await store.listVersions(agent, 'plan', undefined, 10)).toEqual({ outcome: 'missing' })
      const { deleted } = (await store.readMemory(agent, 'k127')) as {
        deleted?: { version: number }
      }
      expect(deleted?.version).toBe(2)

      expect(await small.write(agent)).toMatchObject({ memory: { version: 7 } })
      expect(await small.write(agent, { key: 'new' })).toMatchObject({ memory: { version: 7 } })
      expect(await small.write(agent, { key: 'k127' })).toMatchObject({ memory: { version: 3 } })
      await store.changeMemories(agent, [rename('k127', 'newer', 3)], NOON)
      expect(await store.readMemory(agent, 'newer')).toMatchObject({ memory: { version: 7 } })
      expect(await store.readProfile(agent)).toMatchObject({ memoryCount: 3 })
    })

    test('where every event is kept, so is every delete', async () => {
      await small.restart({ events: 0 })
      const { agent } = await small.agent()
      for (let n = 0; n < 130; n += 26) {
        const names = Array.from({ length: 26 }, (_, i) => `k${n + i}`)
        const answer = await small.store().changeMemories(
          agent,
          names.flatMap((key) => comingAndGoing(key)),
          NOON,
        )
        expect(answer.outcome).toBe('changed')
      }
      expect(await small.store().readMemory(agent, 'k0')).toEqual({
        outcome: 'missing',
        deleted: { version: 2, deletedAt: NOON },
      })
    })

    test('a name that comes and goes is one delete', async () => {
      await small.restart({ events: 1 })
      const { agent } = await small.agent()
      await small.write(agent)
      await small.store().changeMemories(agent, [remove(1)], NOON)
      for (let n = 0; n < 66; n++) {
        const changes = comingAndGoing('again', 2 * n + 1)
        await small.store().changeMemories(agent, changes, NOON + 1)
      }
      expect(await small.store().readMemory(agent, 'plan')).toMatchObject({
        deleted: { version: 2 },
      })
      expect(await small.store().readMemory(agent, 'again')).toMatchObject({
        deleted: { version: 132 },
      })
    })
  })
})
