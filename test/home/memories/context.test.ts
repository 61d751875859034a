/** GET /api/agents/me/context: within its bytes for every home. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { byteBudget } from '../../../src/home/context/budget.ts'
import { hashToken } from '../../../src/pipeline/tokens.ts'
import { timesPromised } from '../../effort.ts'
import { embedded, openService, type TestService, write } from '../../harness.ts'
import { expectProblem, pointersOf } from '../../problem.ts'

const path = '/api/agents/me/context'

interface Shown {
  readonly key: string
}

interface Hit extends Shown {
  readonly bytes?: number
  readonly text?: string
  readonly snippet?: string
}

interface Whole extends Shown {
  readonly text: string
  readonly metadata: object
  readonly version: number
  readonly updatedAt: string
}

interface Context {
  readonly profile: { readonly name: string; readonly purpose?: string }
  readonly pinned: readonly Shown[]
  readonly found: readonly Hit[]
  readonly changes: readonly Shown[]
  readonly leftOut: {
    readonly purpose: boolean
    readonly pinned: number
    readonly found: number
    readonly memories: number
  }
}

interface Kept {
  readonly text: string
  readonly note: string
  readonly pinned: boolean
}

const isNamed =
  ({ key }: Shown) =>
  (each: Shown) =>
    each.key === key

const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** Of the numbers in `leftOut`, for which room is kept before they are known. */
const SLACK = 8

test('what takes the room to its last byte has room, and one byte more has none', () => {
  const item = 'x'.repeat(9)
  const [exact, short] = [byteBudget(10), byteBudget(9)]
  expect([exact.take(item), exact.left()]).toEqual([true, 0])
  expect([short.take(item), short.left()]).toEqual([false, 9])
})

describe('the context', () => {
  let service: TestService
  beforeAll(async () => {
    service = await openService(embedded, { BIRTHS_PER_HOUR: '0' })
  })
  afterAll(() => service.close())

  /** An agent that keeps these, written in their order as k00, k01 … */
  async function homeOf(profile: Record<string, unknown>, memories: readonly Kept[]) {
    const { token } = await service.birth(profile)
    const identity = await service.store.identify(hashToken(token))
    if (!identity) throw new Error('the token is void')
    const writes = memories.map(({ text, note, pinned }, n) => {
      const key = `k${String(n).padStart(2, '0')}`
      const metadata = JSON.stringify({ note, pinned })
      return { verb: 'write' as const, id: randomUUID(), key, text, metadata, expectedVersion: 0 }
    })
    if (writes.length > 0) await service.store.changeMemories(identity, writes, service.now())
    return token
  }

  async function contextOf(token: string, bytes?: number, about?: string) {
    const query = new URLSearchParams({
      ...(bytes !== undefined && { bytes: String(bytes) }),
      ...(about !== undefined && { about }),
    })
    const { status, text } = await service.call('GET', `${path}?${query}`, { token })
    expect(status).toBe(200)
    return { text, context: JSON.parse(text) as Context }
  }

  /** As a context shows what has a text, or without one. */
  const shownOf = ({ key, metadata, version, updatedAt }: Whole, content: object) => ({
    ...{ key, ...content },
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...{ version, updatedAt },
  })

  /** Each memory as it is read, last written first. */
  async function wholeOf(token: string, count: number) {
    const keys = Array.from({ length: count }, (_, n) => `k${String(n).padStart(2, '0')}`)
    const read = keys.map((key) =>
      service.call('GET', `/api/agents/me/memory?key=${key}`, { token }),
    )
    const answers = await Promise.all(read)
    return answers.map(({ body }) => body.memory as Whole).toReversed()
  }

  /** Whatever is not in the list did not fit after what is before it. */
  function expectFull(
    order: readonly object[],
    shown: readonly object[],
    used: number,
    bytes: number,
  ) {
    const placed = new Set(shown.map((each) => JSON.stringify(each)))
    let size = used
    for (const each of order) {
      if (placed.has(JSON.stringify(each))) size += sizeOf(each) + 1
      else expect(size + sizeOf(each) + 1 + SLACK).toBeGreaterThan(bytes)
    }
  }

  /** Of a change: with its text or first line, and without. */
  function formsOfChange(each: Whole) {
    const bytes = Buffer.byteLength(each.text)
    const line = [...each.text.trim()]
    const cut = line.length > 198 ? `${line.slice(0, 198).join('')}…` : line.join('')
    const content = bytes > 400 ? { snippet: cut } : { text: each.text }
    return { told: shownOf(each, { bytes, ...content }), bare: shownOf(each, { bytes }) }
  }

  /** One with a text takes a quarter of the room at most; without it, what is left. */
  function expectTold(order: readonly Whole[], { changes, ...context }: Context, bytes: number) {
    const shown = new Map(changes.map((each) => [each.key, each]))
    const used = sizeOf({ ...context, changes: [] })
    let left = bytes - used
    for (const { told, bare } of order.map(formsOfChange)) {
      const its = shown.get(bare.key)
      const isSmall = sizeOf(told) + 1 <= (bytes - used) / 4 - SLACK
      if (its) expect([told, bare]).toContainEqual(its)
      if (its && isSmall && JSON.stringify(its) !== JSON.stringify(told)) {
        expect(sizeOf(told) + 1 + SLACK).toBeGreaterThan(left)
      }
      if (its) left -= sizeOf(its) + 1
      else expect(sizeOf(bare) + 1 + SLACK).toBeGreaterThan(left)
      if (JSON.stringify(its) === JSON.stringify(told)) {
        expect(sizeOf(told) + 1).toBeLessThanOrEqual((bytes - used) / 4 + SLACK)
      }
    }
    const inOrder = order.map(({ key }) => key).filter((key) => shown.has(key))
    expect(changes.map(({ key }) => key)).toEqual(inOrder)
  }

  /** What a search finds, best first: as many as a context of so many bytes looks at. */
  async function hitsOf(token: string, bytes: number, about: string) {
    const limit = Math.min(50, Math.ceil(bytes / 400))
    const query = new URLSearchParams({ q: about, limit: String(limit) })
    const { body } = await service.call('GET', `/api/agents/me/memories/search?${query}`, { token })
    return body.memories as readonly Hit[]
  }

  /** An eighth of the room is for the changes, and half of what is left for all that come after. */
  function expectShared(
    { found }: Context,
    hits: readonly { readonly brief: Hit; readonly whole: Hit }[],
    { used, bytes, room }: { used: number; bytes: number; room: number },
  ) {
    const shown = new Map(found.map((each) => [each.key, each]))
    let left = bytes - used - room / 8
    for (const { brief, whole } of hits) {
      const its = shown.get(brief.key)
      if (its?.text === undefined) expect(sizeOf(whole) + 1 + SLACK).toBeGreaterThan(left / 2)
      if (its) expect([brief, whole]).toContainEqual(its)
      else expect(sizeOf(brief) + 1 + SLACK).toBeGreaterThan(left)
      if (its) left -= sizeOf(its) + 1
    }
    if (found.length > 0) expect(left).toBeGreaterThan(-1)
    const ranks = found.map(({ key }) => hits.findIndex(({ brief }) => brief.key === key))
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b))
  }

  test('says who I am, what is left, what I pinned, what changed and what to do', async () => {
    const { token } = await service.birth()
    await write(service, token, 'plan', 'Step 1')
    const pin = { key: 'who', text: 'I am Atlas.', metadata: { pinned: true }, expectedVersion: 0 }
    await service.call('POST', '/api/agents/me/memory', { token, body: pin })
    const { context } = await contextOf(token)
    expect(context).toMatchObject({
      profile: { name: 'Atlas', purpose: expect.any(String), status: 'active' },
      memoryCount: 2,
      limits: {
        memories: { limit: 10_000, left: 9_998 },
        bytes: { limit: 67_108_864, left: 67_108_864 - 8 - 26 },
        reads: { limit: 6_000, left: 5_999 },
        writes: { limit: 6_000, left: 5_998 },
      },
      pinned: [{ key: 'who', text: 'I am Atlas.', version: 1 }],
      found: [],
      changes: [{ key: 'plan', bytes: 6 }],
      leftOut: { purpose: false, pinned: 0, found: 0, memories: 0 },
      lastEvent: 2,
    })
    const [shown] = context.changes
    expect(Object.keys(shown ?? {})).toEqual(['key', 'bytes', 'text', 'version', 'updatedAt'])
  })

  test('without limits nothing is said to be left of them', async () => {
    const open = await openService(embedded, {
      MEMORIES_PER_AGENT: '0',
      BYTES_PER_AGENT: '0',
      READS_PER_MINUTE: '0',
    })
    const { token } = await open.birth()
    expect((await open.call('GET', path, { token })).body.limits).toMatchObject({
      memories: { limit: 0, left: null },
      bytes: { limit: 0, left: null },
      reads: { limit: 0, left: null },
      writes: { limit: 6_000, left: 6_000 },
    })
    await open.close()
  })

  test('of a limit that was lowered since, nothing is left', async () => {
    const database = await embedded.fresh()
    const fresh = async () => ({ ...database, drop: async () => {} })
    const before = await openService({ ...embedded, fresh })
    const { token } = await before.birth()
    for (const key of ['a', 'b']) await write(before, token, key, 'text')
    await before.close()
    const lowered = { MEMORIES_PER_AGENT: '1' }
    const after = await openService({ ...embedded, fresh: async () => database }, lowered)
    expect((await after.call('GET', path, { token })).body.limits).toMatchObject({
      memories: { limit: 1, left: 0 },
    })
    await after.close()
  })

  test('the largest profile fits: whole unless less is asked for, and then without purpose', async () => {
    const largest = { name: '\u0001'.repeat(80), purpose: '\u0001'.repeat(1_000) }
    const token = await homeOf(largest, [{ text: 'x', note: '', pinned: true }])
    const { text, context } = await contextOf(token, 9_000)
    expect(context).toMatchObject({ profile: largest, leftOut: { purpose: false } })
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(9_000)
    expect(Buffer.byteLength((await contextOf(token)).text)).toBeLessThanOrEqual(4_000)
    const least = await contextOf(token, 2_000)
    expect(Buffer.byteLength(least.text)).toBeLessThanOrEqual(2_000)
    expect(least.context).toMatchObject({
      profile: { name: largest.name },
      leftOut: { purpose: true },
    })
    expect(least.context.profile).not.toHaveProperty('purpose')
  })

  const unit = fc.constantFrom('x', 'ї', '𝒳', '\u0001', '"', '\\', '天')
  const text = (maxLength: number) =>
    fc.tuple(unit, fc.integer({ min: 1, max: maxLength })).map(([c, n]) => c.repeat(n))
  const word = fc.constantFrom('Copy', 'copied tables', 'weather', '')
  const kept = fc.record({
    text: fc
      .tuple(word, fc.oneof(text(20), text(400), text(4_000)))
      .map(([about, filler]) => `${about} ${filler}`),
    note: fc.oneof(text(5), text(500)),
    pinned: fc.boolean(),
  })
  const home = fc.record({
    profile: fc.record({ name: text(80), purpose: text(1_000) }),
    memories: fc.array(kept, { maxLength: 24 }),
    bytes: fc.oneof(
      fc.integer({ min: 2_000, max: 12_000 }),
      fc.integer({ min: 2_000, max: 65_536 }),
    ),
    about: fc.option(fc.constantFrom('copy the tables', '天', 'nothing'), { nil: undefined }),
  })

  test('of any home: within its bytes, whole memories alone, and all that fits in order', async () => {
    await fc.assert(
      fc.asyncProperty(home, async ({ profile, memories, bytes, about }) => {
        const token = await homeOf(profile, memories)
        const { text, context } = await contextOf(token, bytes, about)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes)
        const newest = await wholeOf(token, memories.length)
        const pinned = newest
          .filter(({ metadata }) => Object(metadata).pinned)
          .toReversed()
          .map((each) => shownOf(each, { text: each.text }))
        for (const each of context.pinned) expect(pinned).toContainEqual(each)
        const frame = sizeOf({ ...context, pinned: [], found: [], changes: [] })
        const room = bytes - frame
        const hits = about === undefined ? [] : await hitsOf(token, bytes, about)
        expectFull(pinned, context.pinned, frame, hits.length > 0 ? bytes - room / 2 : bytes)

        const pins = new Set(context.pinned.map(({ key }) => key))
        const unpinned = hits.filter(({ key }) => !pins.has(key))
        const forms = unpinned.flatMap((hit) => {
          const { bytes, snippet } = hit
          const whole = newest.find(isNamed(hit))
          if (!whole) return []
          const brief = shownOf(whole, { bytes, ...(snippet !== undefined && { snippet }) })
          return { brief, whole: shownOf(whole, { text: whole.text }) }
        })
        const used = sizeOf({ ...context, found: [], changes: [] })
        expectShared(context, forms, { used, bytes, room })

        const there = new Set([...pins, ...context.found.map(({ key }) => key)])
        expect(there.size).toBe(context.pinned.length + context.found.length)
        const others = newest.filter(({ key }) => !there.has(key))
        expectTold(others, context, bytes)
        expect(context.leftOut.pinned).toBe(pinned.length - context.pinned.length)
        expect(context.leftOut.found).toBe(unpinned.length - context.found.length)
        expect(context.leftOut.memories).toBe(others.length - context.changes.length)
        expect(context.leftOut.purpose).toBe(context.profile.purpose === undefined)
      }),
      { numRuns: timesPromised(60) },
    )
  })

  test('is never a digit longer than was asked for, however many are left out', async () => {
    const kept = Array.from({ length: 240 }, (_, n) => ({ text: 'x', note: '', pinned: n % 2 > 0 }))
    const token = await homeOf({}, kept)
    const over: number[] = []
    // An item takes 114: over more lengths than that its last byte comes to lie on the edge.
    for (let bytes = 2_000; bytes < 2_130; bytes++) {
      const { text, context } = await contextOf(token, bytes)
      expect(context.leftOut.pinned + context.leftOut.memories).toBeGreaterThan(200)
      expect(context.leftOut.pinned + context.pinned.length).toBe(120)
      over.push(Buffer.byteLength(text) - bytes)
    }
    expect(Math.max(...over)).toBeLessThanOrEqual(0)
    expect(Math.max(...over)).toBeGreaterThan(-SLACK)
  })

  test('has room for every count where nothing else fits', async () => {
    const pinned: Kept = { text: 'tables', note: '', pinned: true }
    const token = await homeOf({ purpose: '\u0001'.repeat(903) }, Array(20).fill(pinned))
    const { context } = await contextOf(token, 20_000, 'tables')
    const leftOut = { purpose: false, pinned: 20, found: 16, memories: 20 }
    const none = { ...context, pinned: [], found: [], changes: [], leftOut }
    const { text, context: least } = await contextOf(token, sizeOf(none), 'tables')
    expect(least.leftOut).toEqual(leftOut)
    expect(Buffer.byteLength(text)).toBe(sizeOf(none))
    const less = await contextOf(token, sizeOf(none) - 1, 'tables')
    expect(less.context.leftOut.purpose).toBe(true)
  })

  test.each([
    { large: 60, small: ['k02', 'k01', 'k00'] },
    { large: 200, small: [] },
  ])('behind $large that do not fit the small ones are $small', async ({ large, small }) => {
    const kept = (note: string): Kept => ({ text: 'x', note, pinned: false })
    const memories = [...Array(3).fill(kept('')), ...Array(large).fill(kept('x'.repeat(3_600)))]
    const { context } = await contextOf(await homeOf({}, memories))
    const shown = context.changes.map(({ key }) => key)
    expect(shown.filter((key) => /^k0[012]$/.test(key))).toEqual(small)
    expect(context.leftOut.memories).toBe(memories.length - shown.length)
  })

  test('behind more pinned memories than are looked at besides, the newest others fill it', async () => {
    const kept = (pinned: boolean): Kept => ({ text: 'x', note: '', pinned })
    const memories = [...Array(500).fill(kept(false)), ...Array(300).fill(kept(true))]
    const bytes = 60_000
    const { text, context } = await contextOf(await homeOf({}, memories), bytes)
    expect(context.pinned).toHaveLength(300)
    expect(context.changes.map(({ key }) => key)).toEqual(
      context.changes.map((_, at) => `k${499 - at}`),
    )
    expect(Buffer.byteLength(text)).toBeGreaterThan(bytes - 2 * sizeOf(context.changes[0]))
  })

  const about = (size: number): Kept => ({
    ...{ text: `tables ${'x'.repeat(size)}`, note: '', pinned: false },
  })
  const other: Kept = { text: 'weather', note: '', pinned: false }

  const formsOf = ({ found }: Context) =>
    found.map(({ key, text }) => (text === undefined ? key : `${key} whole`))

  test('pinned memories that would fill it leave room to what is found, and to changes', async () => {
    const pinned = { ...about(1_200), text: `chess ${'x'.repeat(1_200)}`, pinned: true }
    const memories = [...Array(3).fill(about(1_000)), ...Array(5).fill(pinned), other]
    const token = await homeOf({}, memories)
    const { context } = await contextOf(token, 7_260, 'Copy the tables')
    expect(context.pinned.map(({ key }) => key)).toEqual(['k03', 'k04'])
    expect(context.found.map(({ text }) => text?.length)).toEqual([1_007, 1_007, undefined])
    expect(context.changes.map(({ key }) => key)).toContain('k08')
    expect((await contextOf(token, 6_260, 'Play chess')).context.pinned).toHaveLength(4)
  })

  test('what is found leaves an eighth of the room to changes, in snippets too', async () => {
    const found = Array.from({ length: 20 }, () => ({ ...about(2_000), note: 'n'.repeat(300) }))
    const token = await homeOf({}, [...found, ...Array(9).fill(other)])
    // Over more lengths than one takes its last byte comes to lie on the edge.
    for (let bytes = 4_000; bytes < 4_800; bytes += 50) {
      const { context } = await contextOf(token, bytes, 'Copy the tables')
      const room = bytes - sizeOf({ ...context, pinned: [], found: [], changes: [] })
      const used = context.found.reduce((sum, each) => sum + sizeOf(each) + 1, 0)
      expect(context.found.length).toBeGreaterThan(1)
      expect(used).toBeLessThanOrEqual(room - room / 8 + SLACK)
    }
  })

  test('of what is found a long memory pushes out no other, and comes whole where there is room', async () => {
    const shorts = Array.from({ length: 8 }, () => ({ ...about(0), note: 'short' }))
    const long = { ...about(4_000), text: `copy the tables ${'x'.repeat(4_000)}` }
    const token = await homeOf({}, [...shorts, long])
    const { context } = await contextOf(token, 5_760, 'copy the tables')
    expect(formsOf(context).toSorted()).toEqual([
      ...shorts.map((_, n) => `k0${n} whole`),
      expect.stringMatching(/^k08/),
    ])
    expect(formsOf(context)[0]).toBe('k08')
    const alone = await contextOf(await homeOf({}, [long, other]), 8_000, 'copy the tables')
    expect(formsOf(alone.context)).toEqual(['k00 whole'])
  })

  test('what is found leaves room to the newest, and one is looked for in 400 bytes', async () => {
    const token = await homeOf({}, [...Array(60).fill(about(150)), other])
    for (const [bytes, most] of [
      [8_000, 20],
      [8_001, 21],
      [65_536, 50],
    ] as const) {
      const { context } = await contextOf(token, bytes, 'tables')
      expect(context.found.length + context.leftOut.found).toBe(most)
      expect(context.changes.map(({ key }) => key)).toContain('k60')
    }
  })

  test.each(['1999', '65537', '8e3', '-1', '', '8000.5'])('bytes=%s is refused', async (bytes) => {
    const { token } = await service.birth()
    const answer = await service.call('GET', `${path}?bytes=${bytes}`, { token })
    expectProblem(answer, 'invalid_query')
    expect(pointersOf(answer)).toEqual(['?bytes'])
  })
})
