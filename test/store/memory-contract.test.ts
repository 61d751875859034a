/** Memories under compare-and-swap, from every engine. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stores } from '../harness.ts'
import { NOON, newWrite, openFixture, type StoreFixture, tally } from './fixture.ts'

/** Texts that encodings, collations, JSON columns and quoting have each been known to change. */
const hostileTexts = [
  'Крок 1 🌱',
  "'); DROP TABLE memories; --",
  'a\u0301 is not á, and ß is not ss',
  '\u200f\u202eright to left\u2066',
  '\ufeffmark\ufeff',
  'line\r\nbreaks\u2028\u2029\u0085\u000b',
  '\u0001\u001f\u007f\u009f',
  '\\u0041 \\ "quoted" %s {x} $1 ?',
  '👩‍👩‍👧‍👦🏳️‍🌈\u{10ffff}\ufffd\uffff',
  '  spaces kept  ',
  ' ',
]

const QUOTA = 20

describe.each(stores)('memories on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine, { memories: QUOTA })
  })
  afterAll(() => fixture.close())

  test('a write with expectedVersion 0 creates version 1', async () => {
    const { agent } = await fixture.agent()
    const write = newWrite({ metadata: '{"b":1,"a":[1e21,-0.5,{"z":null}]}' })
    const { id, key, text, metadata } = write
    const memory = { id, key, text, metadata, version: 1, createdAt: NOON, updatedAt: NOON }
    expect(await fixture.store().writeMemory(agent, write, NOON)).toEqual({
      outcome: 'saved',
      memory,
    })
    expect(await fixture.store().readMemory(agent, key)).toEqual({ outcome: 'found', memory })
  })

  test.each(hostileTexts)('text comes back as it was sent: %j', async (text) => {
    const { agent } = await fixture.agent({ name: text, purpose: text })
    const metadata = JSON.stringify({ [text]: text })
    await fixture.write(agent, { text, metadata })
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({
      memory: { text, metadata },
    })
    expect(await fixture.store().readProfile(agent)).toMatchObject({
      profile: { name: text, purpose: text },
    })
  })

  test('the largest key, text and metadata come back whole', async () => {
    const { agent } = await fixture.agent()
    const key = 'k'.repeat(100)
    const text = '🌱'.repeat(4096)
    const metadata = JSON.stringify({ m: 'м'.repeat(2044) })
    expect([Buffer.byteLength(text), Buffer.byteLength(metadata)]).toEqual([16_384, 4_096])
    await fixture.write(agent, { key, text, metadata })
    expect(await fixture.store().readMemory(agent, key)).toMatchObject({
      memory: { text, metadata },
    })
  })

  test('a write of the current version updates it and keeps id and creation', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const first = await fixture.store().readMemory(agent, 'plan')
    if (first.outcome !== 'found') throw new Error('it was written')
    const update = newWrite({ text: 'Step 2', metadata: '{"n":2}', expectedVersion: 1 })
    const saved = await fixture.store().writeMemory(agent, update, NOON + 7)
    expect(saved).toEqual({
      outcome: 'saved',
      memory: {
        ...first.memory,
        text: 'Step 2',
        metadata: '{"n":2}',
        version: 2,
        updatedAt: NOON + 7,
      },
    })
  })

  test('a clock that steps back never makes an update older than what it replaced', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent)
    const update = newWrite({ expectedVersion: 1 })
    expect(await fixture.store().writeMemory(agent, update, NOON - 9)).toMatchObject({
      memory: { version: 2, createdAt: NOON, updatedAt: NOON },
    })
  })

  test.each([1, 7, Number.MAX_SAFE_INTEGER])(
    'a write of version %i of nothing conflicts with version 0',
    async (expectedVersion) => {
      const { agent } = await fixture.agent()
      expect(await fixture.write(agent, { expectedVersion })).toEqual({
        outcome: 'conflict',
        currentVersion: 0,
        updatedAt: undefined,
        sameContent: false,
      })
      expect(await fixture.store().readMemory(agent, 'plan')).toEqual({ outcome: 'missing' })
    },
  )

  test('a conflict tells the current version, and whether the same content is there', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { text: 'mine', metadata: '{"a":1}' })
    const conflict = { outcome: 'conflict', currentVersion: 1, updatedAt: NOON }
    const again = (text: string, metadata: string, expectedVersion: number) =>
      fixture.write(agent, { text, metadata, expectedVersion })
    expect(await again('mine', '{"a":1}', 0)).toEqual({ ...conflict, sameContent: true })
    expect(await again('mine', '{"a":1}', 2)).toEqual({ ...conflict, sameContent: true })
    expect(await again('mine', '{ "a": 10e-1 }', 0)).toEqual({ ...conflict, sameContent: true })
    const batch = {
      verb: 'write',
      ...newWrite({ text: 'mine', metadata: '{"\\u0061":1.0}' }),
    } as const
    expect(await fixture.store().changeMemories(agent, [batch], NOON)).toEqual({
      outcome: 'unchanged',
      faults: [{ at: 0, fault: { ...conflict, sameContent: true } }],
    })
    expect(await again('mine', '{"a":2}', 0)).toEqual({ ...conflict, sameContent: false })
    expect(await again('yours', '{"a":1}', 5)).toEqual({ ...conflict, sameContent: false })
    expect(await fixture.store().readMemory(agent, 'plan')).toMatchObject({
      memory: { text: 'mine', metadata: '{"a":1}', version: 1 },
    })
  })

  test('the quota stops new memories, not updates, and a conflict comes before it', async () => {
    const { agent } = await fixture.agent()
    const write = (key: string, expectedVersion = 0) =>
      fixture.write(agent, { key, expectedVersion })
    for (let n = 2; n < QUOTA; n++) await write(`k${n}`)
    expect(tally([await write('a'), await write('b')])).toEqual({ saved: 2 })
    expect(await write('c')).toEqual({ outcome: 'over_quota', quota: 'memories' })
    expect(await write('b', 1)).toMatchObject({ outcome: 'saved' })
    expect(await write('c', 4)).toMatchObject({ outcome: 'conflict' })
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: QUOTA })
  })

  test('the quota holds among writes at once', async () => {
    const { agent } = await fixture.agent()
    const answers = await Promise.all(
      Array.from({ length: 32 }, (_, n) => fixture.write(agent, { key: `k${n}` })),
    )
    expect(tally(answers)).toEqual({ saved: QUOTA, over_quota: 32 - QUOTA })
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: QUOTA })
  })

  test('of 64 writes at once of one version, exactly one is saved, at every version', async () => {
    const { agent } = await fixture.agent()
    for (const expectedVersion of [0, 1, 2, 3]) {
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, n) =>
          fixture.write(agent, { text: `${expectedVersion}.${n}`, expectedVersion }),
        ),
      )
      expect(tally(answers)).toEqual({ saved: 1, conflict: 63 })
      const saved = answers.find(({ outcome }) => outcome === 'saved')
      expect(await fixture.store().readMemory(agent, 'plan')).toEqual({
        ...saved,
        outcome: 'found',
      })
    }
    expect(await fixture.store().readProfile(agent)).toMatchObject({ memoryCount: 1 })
  })

  test('agents never meet in a key', async () => {
    const [mine, theirs] = [await fixture.agent(), await fixture.agent()]
    await fixture.write(mine.agent, { text: 'mine' })
    expect(await fixture.store().readMemory(theirs.agent, 'plan')).toEqual({ outcome: 'missing' })
    await fixture.write(theirs.agent, { text: 'theirs' })
    expect(await fixture.store().readMemory(mine.agent, 'plan')).toMatchObject({
      memory: { text: 'mine', version: 1 },
    })
  })

  test('keys that differ in case or in a mark are different memories', async () => {
    const { agent } = await fixture.agent()
    const keys = ['a', 'A', 'a.', 'a-', 'a_', '_', '.', '-', '0', '00', 'x'.repeat(100)]
    for (const key of keys) await fixture.write(agent, { key, text: key })
    for (const key of keys) {
      expect(await fixture.store().readMemory(agent, key)).toMatchObject({
        memory: { key, text: key, version: 1 },
      })
    }
  })
})
