/** What the gateway may rely on, from every engine. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { Entry, FeedChoice, NewEntry } from '../../src/store/port/gateway.ts'
import type { Store } from '../../src/store/port/store.ts'
import { isStopWord } from '../../src/store/search/stop-words.ts'
import { wordsSought } from '../../src/store/words.ts'
import { timesPromised } from '../effort.ts'
import { stores, type TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { anyText, engineWords } from './engine-words.ts'

const START = Date.UTC(2026, 10, 21)

const HOUR_MS = 3_600_000

const NIL_ID = '00000000-0000-0000-0000-000000000000'

/** More bytes than these tests leave. */
const PLENTY = 1_048_576

const entry = (overrides: Partial<NewEntry> = {}): NewEntry => {
  const createdAt = overrides.createdAt ?? START
  return {
    id: uuidv7({ msecs: createdAt, random: randomBytes(16) }),
    feed: 'seeds',
    room: 'memory-garden',
    text: 'a text',
    identity: 'Відлуння',
    identityType: 'ai',
    details: '{"type":"thought"}',
    labels: [],
    createdAt,
    ...overrides,
  }
}

const texts = (entries: readonly Entry[]): string[] => entries.map(({ text }) => text)

describe.each(stores)('the gateway’s store on $name', (engine) => {
  let database: TestDatabase
  let store: Store
  /** Where an entry is left that says nothing else. */
  let feed = 'seeds'
  let bounds = unbounded.feed
  const openFresh = async () => {
    database = await engine.fresh()
    bounds = unbounded.feed
    store = await openStore(database.url, START, unbounded)
  }
  /** As a process that starts again with other bounds. */
  const reopen = async (entries: number, bytes = 0) => {
    bounds = { entries, bytes }
    await store.close()
    store = await openStore(database.url, START, { ...unbounded, feed: bounds })
  }
  const keeping = async (entries: number, bytes = 0) => {
    if (entries !== bounds.entries || bytes !== bounds.bytes) await reopen(entries, bytes)
  }
  const drop = async () => {
    await store.close()
    await database.drop()
  }

  const leave = (overrides: Partial<NewEntry> = {}) =>
    store.leaveEntry(entry({ feed, ...overrides }))

  const leaveAll = async (all: readonly string[], overrides: Partial<NewEntry> = {}) => {
    for (const text of all) await leave({ ...overrides, text })
  }

  const page = (limit: number, before?: string, labels: readonly string[] = []) =>
    store.readFeed({ feed, labels, before, limit })

  const everyPage = async (limit: number, labels: readonly string[] = []) => {
    const found: Entry[] = []
    let before: string | undefined
    do {
      const { entries, next } = await page(limit, before, labels)
      found.push(...entries)
      before = next
    } while (before !== undefined)
    return found
  }

  describe('each feed by itself', () => {
    beforeAll(openFresh)
    afterAll(drop)
    beforeEach(async () => {
      feed = `feed-${randomBytes(6).toString('hex')}`
    })
    afterEach(() => {
      feed = 'seeds'
    })

    describe('without bounds', () => {
      beforeEach(() => keeping(0))

      test('an entry comes back as it was left', async () => {
        const { labels: _, ...left } = entry({
          feed,
          // Its id is later than any there is.
          createdAt: START + HOUR_MS,
          text: 'Шепіт \u202e of <b>"dreams"</b>\n\u001b[31m; DROP TABLE entries; --',
          details: '{"b":1,"a":[2]}',
        })
        expect(await store.leaveEntry({ ...left, labels: ['type:thought'] })).toBe(left.id)
        expect(await page(10)).toEqual({ entries: [left], next: undefined })
      })

      test('of a word that is everywhere the newest 1,000 entries are looked at', async () => {
        await leave({ text: 'flooded' })
        const flood = (count: number) =>
          Promise.all(
            Array.from({ length: count }, () => leave({ feed: 'flood', text: 'flooded' })),
          )
        const others = () => store.findKindred(['flooded'], 5, { except: 'flood' })
        await flood(999)
        expect(await others()).toHaveLength(1)
        await flood(1)
        expect(await others()).toEqual([])
      })

      test('a feed shows its own entries, newest first', async () => {
        await leaveAll(['1', '2'])
        await leave({ feed: 'garden', text: 'elsewhere' })
        await leaveAll(['3'])
        expect(texts((await page(10)).entries)).toEqual(['3', '2', '1'])
      })

      test('ids grow with arrival, in one millisecond and when the clock steps back', async () => {
        const ids: string[] = []
        for (let i = 0; i < 50; i++)
          ids.push(await leave({ createdAt: START - (i > 25 ? 60_000 : 0) }))
        expect(ids).toEqual([...ids].sort())
        expect(new Set(ids).size).toBe(50)
        expect(await store.lastArrival()).toBe(ids.at(-1))
      })

      test('concurrent arrivals are all kept, each under an id of its own', async () => {
        const ids = await Promise.all(
          Array.from({ length: 40 }, (_, i) => leave({ text: String(i) })),
        )
        expect(new Set(ids).size).toBe(40)
        expect((await everyPage(7)).map(({ id }) => id)).toEqual([...ids].sort().reverse())
      })

      test('the last page says that it is the last', async () => {
        await leaveAll(['1', '2', '3', '4'])
        const first = await page(2)
        expect(first.next).toBe(first.entries[1]?.id)
        const second = await page(2, first.next)
        expect(texts(second.entries)).toEqual(['2', '1'])
        expect(second.next).toBeUndefined()
      })

      test('any id is a cursor, also one that no entry has', async () => {
        await leaveAll(['1', '2'])
        expect(
          texts((await page(10, 'ffffffff-ffff-7fff-bfff-ffffffffffff')).entries),
        ).toHaveLength(2)
        expect(await page(10, NIL_ID)).toEqual({ entries: [], next: undefined })
      })

      test('labels narrow a feed down to the entries that bear all of them', async () => {
        await leave({ text: 'a', labels: ['tag:x'] })
        await leave({ text: 'ab', labels: ['tag:x', 'tag:y'] })
        await leave({ text: 'b', labels: ['tag:y'] })
        await leave({ feed: 'garden', text: 'other feed', labels: ['tag:x', 'tag:y'] })
        expect(texts((await page(10, undefined, ['tag:x'])).entries)).toEqual(['ab', 'a'])
        expect(texts((await page(10, undefined, ['tag:x', 'tag:y'])).entries)).toEqual(['ab'])
        expect(texts((await page(10, undefined, ['tag:z'])).entries)).toEqual([])
      })

      test('a page that looked at many and found none leads on to what is further back', async () => {
        await leave({ text: 'oldest', labels: ['tag:x', 'tag:y'] })
        await leave({ text: 'old', labels: ['tag:x', 'tag:y'] })
        const beside = Array.from({ length: 1_010 }, (_, n) => `${n}`)
        for (let at = 0; at < beside.length; at += 101) {
          const some = beside.slice(at, at + 101)
          await Promise.all(some.map((text) => leave({ text, labels: ['tag:x'] })))
        }
        const wanted = ['tag:x', 'tag:y']
        const first = await page(1, undefined, wanted)
        expect([first.entries, first.next]).toEqual([[], expect.any(String)])
        const second = await page(1, first.next, wanted)
        expect(texts(second.entries)).toEqual(['old'])
        const third = await page(1, second.next, wanted)
        expect([texts(third.entries), third.next]).toEqual([['oldest'], undefined])
      })

      test('pages joined are the list, whatever the limit, the labels and what arrives between', async () => {
        const labelled = fc.subarray(['x', 'y'])
        await fc.assert(
          fc.asyncProperty(
            fc.array(labelled, { maxLength: 25 }),
            labelled,
            fc.integer({ min: 1, max: 6 }),
            async (arrivals, wanted, limit) => {
              const feed = `feed-${randomBytes(6).toString('hex')}`
              for (const [i, labels] of arrivals.entries())
                await leave({ feed, text: `${i}`, labels })
              const expected = arrivals
                .flatMap((labels, i) => (wanted.every((l) => labels.includes(l)) ? [`${i}`] : []))
                .reverse()
              const found: string[] = []
              let before: string | undefined
              do {
                const read = await store.readFeed({ feed, labels: wanted, before, limit })
                found.push(...texts(read.entries))
                await leave({ feed, text: 'new', labels: wanted })
                before = read.next
              } while (before !== undefined)
              expect(found).toEqual(expected)
            },
          ),
          { numRuns: timesPromised(40) },
        )
      })
    })

    describe('within bounds', () => {
      /** Of an entry whose text is one word, over and over. */
      const BYTES_OF_A_THOUSAND = 1_700

      test('composting keeps exactly the newest, also after the store was opened anew', async () => {
        await keeping(3)
        await leaveAll(['1', '2', '3', '4', '5'], { labels: ['tag:x'] })
        expect(texts((await page(10)).entries)).toEqual(['5', '4', '3'])
        await reopen(3)
        await leaveAll(['6', '7'], { labels: ['tag:x'] })
        expect(texts((await page(10)).entries)).toEqual(['7', '6', '5'])
        expect(texts((await page(10, undefined, ['tag:x'])).entries)).toEqual(['7', '6', '5'])
      })

      test('composting one feed leaves the others alone', async () => {
        const other = `beside-${feed}`
        await leave({ feed: other, text: 'stays' })
        await keeping(3)
        await leaveAll(['1', '2', '3', '4', '5'])
        const kept = await store.readFeed({ feed: other, labels: [], before: undefined, limit: 9 })
        expect(texts(kept.entries)).toEqual(['stays'])
      })

      test('pages go on although their cursor was composted', async () => {
        await keeping(3)
        await leaveAll(['1', '2', '3'])
        const first = await page(1)
        await leaveAll(['4'])
        expect(texts((await page(10, first.next)).entries)).toEqual(['2'])
        await leaveAll(['5', '6', '7'])
        expect(await page(10, first.next)).toEqual({ entries: [], next: undefined })
      })

      test('a lowered capacity is reached within a few arrivals', async () => {
        await keeping(0)
        const labels = ['tag:x']
        await leaveAll(
          Array.from({ length: 60 }, (_, i) => `${i}`),
          { labels },
        )
        await keeping(3)
        await leaveAll(['a', 'b', 'c', 'd'], { labels })
        expect(texts((await page(10)).entries)).toEqual(['d', 'c', 'b'])
        const labelled = await page(3, undefined, labels)
        expect(texts(labelled.entries)).toEqual(['d', 'c', 'b'])
        expect(labelled.next).toBeUndefined()
      })

      test('bytes are counted down with what goes, and lowered bounds are reached', async () => {
        await keeping(0, 0)
        await leaveAll(Array.from({ length: 60 }, (_, i) => `${i}`))
        await keeping(3, 1_000_000)
        await leaveAll(['a', 'b', 'c'])
        expect(texts(await everyPage(50))).toEqual(['c', 'b', 'a'])
        await keeping(0, 2_000)
        await leaveAll(['d', 'e', 'f'])
        expect(texts(await everyPage(50))).toEqual(['f', 'e', 'd'])
        await leaveAll(['g'])
        expect(texts(await everyPage(50))).toEqual(['g', 'f', 'e'])
      })

      test('a feed over its bytes lets its oldest go, the others stay', async () => {
        const other = `beside-${feed}`
        await keeping(0, 5 * BYTES_OF_A_THOUSAND)
        await leave({ feed: other, text: 'stays' })
        for (let i = 0; i < 12; i++) await leave({ text: `${i} ${'echo '.repeat(200)}` })
        const kept = (await page(20)).entries.map(({ text }) => text.split(' ')[0])
        expect(kept).toEqual(['11', '10', '9', '8', '7'])
        expect(
          texts(
            (await store.readFeed({ feed: other, labels: [], before: undefined, limit: 9 }))
              .entries,
          ),
        ).toEqual(['stays'])
      })

      test('a long arrival takes the place of as many short ones as it needs', async () => {
        await keeping(0, 60 * BYTES_OF_A_THOUSAND)
        await Promise.all(Array.from({ length: 150 }, (_, i) => leave({ text: `${i}` })))
        await leave({ text: 'x '.repeat(30_000) })
        const kept = (await everyPage(100)).length
        expect(kept).toBeLessThan(85)
        expect(kept).toBeGreaterThan(60)
        await leave({ text: 'y '.repeat(40_000) })
        expect((await everyPage(100)).length).toBeLessThan(25)
      })

      test('what an entry takes counts its names, its details, its labels and its words', async () => {
        await keeping(0, 5_000)
        const long = 'x'.repeat(4_000)
        const words = Array.from({ length: 190 }, (_, i) => `word${i}`).join(' ')
        const labels = Array.from({ length: 5 }, (_, i) => `${i}`.repeat(280))
        for (const large of [
          { identity: long },
          { details: long },
          { text: long },
          { labels },
          { text: words },
        ]) {
          feed = `feed-${randomBytes(6).toString('hex')}`
          await leaveAll(['1', '2', '3'])
          await leave(large)
          expect([large, (await page(9)).entries.length]).toEqual([large, 1])
        }
      })
    })
  })

  describe('long traces, beside others', () => {
    beforeAll(openFresh)
    afterAll(drop)

    test.each(['\u0e31', '\u20dd', ' ', '-'])(
      'letters joined by %j are found, however long the traces of such letters are',
      async (joint) => {
        const joined = (length: number, from: number) =>
          Array.from({ length }, (_, i) => 'ab'[(i + from) % 2]).join(joint)
        const long = joined(65_536 / (1 + Buffer.byteLength(joint)), 0)
        await Promise.all(Array.from({ length: 20 }, () => leave({ text: long })))
        const seeking = Array.from({ length: 16 }, (_, i) => `${joined(15 + i, 0)}${joint}b`)
        // What is looked for, and in what, is counted in test/store/words.test.ts.
        expect(await store.findKindred(seeking, 5)).toHaveLength(5)
      },
    )
  })

  describe('all feeds together', () => {
    beforeAll(async () => {
      await openFresh()
      expect(await store.lastArrival()).toBe(NIL_ID)
    })
    afterAll(drop)
    beforeEach(async () => {
      for (const { id } of await store.listEntries({ limit: 1_000 })) await store.removeEntry(id)
    })

    describe('without bounds', () => {
      beforeEach(() => keeping(0))

      test.each([
        '"',
        'a" OR "b',
        'NEAR(a b)',
        '*',
        '-a',
        'text:a',
        "'; --",
        '!',
        '& |',
        ':*',
        '\\',
      ])('the word %j is looked for, never obeyed', async (word) => {
        await leave({ text: 'harmless' })
        expect(await store.findKindred([word], 5)).toEqual([])
      })

      test('kindred entries are the newest that have one of the words', async () => {
        await leaveAll(['Music of the spheres', 'Silence', 'Тиша і Музика', 'spheres again'])
        await leave({ feed: 'resonance', text: '' })
        expect(texts(await store.findKindred(['spheres', 'музика'], 5))).toEqual([
          'spheres again',
          'Тиша і Музика',
          'Music of the spheres',
        ])
        expect(texts(await store.findKindred(['spheres'], 1))).toEqual(['spheres again'])
        expect(await store.findKindred(['nowhere'], 5)).toEqual([])
        expect(await store.findKindred([], 5)).toEqual([])
      })

      test('one feed, or all but one, is chosen before the newest are counted', async () => {
        await leaveAll(['old beam'])
        await leaveAll(Array<string>(20).fill('beam again'), { feed: 'resonance' })
        const found = async (limit: number, feeds: FeedChoice) =>
          texts(await store.findKindred(['beam'], limit, feeds))
        expect(await found(5, { except: 'resonance' })).toEqual(['old beam'])
        expect(await found(1, { only: 'seeds' })).toEqual(['old beam'])
        expect(await found(2, { only: 'resonance' })).toEqual(['beam again', 'beam again'])
        expect(await found(50, {})).toHaveLength(21)
      })

      test('every engine sees the same words', async () => {
        const text = 'See https://example.org/dream-time_2026 in a café, Ґанок’s їжак: o’clock 7,5€'
        await leave({ text })
        const found = async (word: string) => (await store.findKindred([word], 5)).length === 1
        const words = [
          'example',
          'ORG',
          'dream',
          '2026',
          'cafe',
          'CAFÉ',
          'ґанок',
          'ЇЖАК',
          'clock',
          '7',
        ]
        const phrases = [
          'time of dreams',
          'example.com',
          'https://elsewhere.net/dream',
          'in a cafe',
        ]
        for (const word of [...words, ...phrases])
          expect([word, await found(word)]).toEqual([word, true])
        const strangers = ['dreams', 'exam', 'dreamtime', 'їжа', '€', 'see elsewhere', '75']
        for (const word of strangers) expect([word, await found(word)]).toEqual([word, false])
      })

      test('an entry is found by each of its words, whatever they are written in', async () => {
        const left: { text: string; words: readonly string[] }[] = []
        await fc.assert(
          fc.asyncProperty(anyText, async (text) => {
            left.push({ text, words: engineWords([text])[0] ?? [] })
            await leave({ text })
            const sought = wordsSought([text], isStopWord)
            for (const word of sought) {
              const having = left.filter(({ words }) => words.includes(word))
              const found = texts(await store.findKindred([word], left.length))
              expect(found).toEqual(having.map((entry) => entry.text).reverse())
            }
          }),
          { numRuns: timesPromised(60), endOnFailure: true },
        )
      })

      test('of many words the first 512 find an entry, and none that is longer than 40', async () => {
        const long = 'z'.repeat(41)
        const words = Array.from({ length: 600 }, (_, i) => `word${i}`)
        await leave({ text: [long, ...words.slice(0, 300), ...words].join(' ') })
        const found = async (word: string) => (await store.findKindred([word], 5)).length
        expect(
          await Promise.all(['word0', 'word511', 'word512', 'word599', long].map(found)),
        ).toEqual([1, 1, 0, 0, 0])
      })

      test('rooms are summed over feeds, with their newest entries', async () => {
        // Of rooms where entries were, feeds are told that have none any more.
        await leaveAll(['1', '2', '3'], { room: 'clearing' })
        await leave({ feed: 'garden', room: 'clearing', text: 'trace' })
        await leave({ feed: 'garden', room: 'spring', text: 'at the spring' })
        const rooms = await store.summarizeRooms(2)
        const shown = rooms.map(({ room, count, feeds, latest }) => [
          ...[room, count, feeds, texts(latest)],
        ])
        expect(shown.sort()).toEqual([
          ['clearing', 4, { seeds: 3, garden: 1 }, ['trace', '3']],
          ['spring', 1, { garden: 1 }, ['at the spring']],
        ])
      })

      test('the host’s owner sees what was left, newest first, and as much as tells it', async () => {
        await leaveAll(['1', '2'])
        await leave({ feed: 'garden', text: 'ї'.repeat(500), identity: 'Ї'.repeat(300) })
        const [newest, ...others] = await store.listEntries({ limit: 10 })
        expect(newest).toMatchObject({ feed: 'garden', room: 'memory-garden', createdAt: START })
        expect([newest?.text.length, newest?.identity.length]).toEqual([200, 200])
        expect(newest?.bytes).toBeGreaterThan(1_500)
        expect(others.map(({ text }) => text)).toEqual(['2', '1'])
        expect(await store.listEntries({ feed: 'seeds', limit: 1 })).toMatchObject([{ text: '2' }])
        const before = others[0]?.id
        expect(await store.listEntries({ before, limit: 9 })).toMatchObject([{ text: '1' }])
      })

      test('the host’s owner removes an entry: no page, word, label or count has it', async () => {
        await leaveAll(['kept'])
        const id = await leave({ text: 'spamword here', labels: ['tag:spam'], room: 'shepit-wall' })
        await leaveAll(['newer'])
        expect(await store.removeEntry(id)).toEqual({ outcome: 'removed' })
        expect(await store.removeEntry(id)).toEqual({ outcome: 'missing' })
        expect(texts((await page(10)).entries)).toEqual(['newer', 'kept'])
        expect((await page(10, undefined, ['tag:spam'])).entries).toEqual([])
        expect(await store.findKindred(['spamword'], 5)).toEqual([])
        expect(texts(await store.entriesAfter(NIL_ID, 10, PLENTY))).toEqual(['kept', 'newer'])
        expect(await store.summarizeRooms(1)).toMatchObject([{ room: 'memory-garden', count: 2 }])
      })

      test('after the newest was removed, what arrives has a higher id and is found', async () => {
        await leaveAll(['kept'])
        const gone = await leave({ text: 'first word' })
        await store.removeEntry(gone)
        await reopen(0)
        const next = await leave({ text: 'second word', createdAt: START + HOUR_MS })
        expect(next > gone).toBe(true)
        expect(texts(await store.findKindred(['word'], 5))).toEqual(['second word'])
        expect(texts(await store.findKindred(['first'], 5))).toEqual([])
      })

      test('arrivals follow an id, oldest first, from every feed', async () => {
        expect(await store.entriesAfter(NIL_ID, 10, PLENTY)).toEqual([])
        await leaveAll(['1', '2'])
        const position = await store.lastArrival()
        await leave({ feed: 'garden', text: '3' })
        await leaveAll(['4', '5'])
        expect(texts(await store.entriesAfter(position, 2, PLENTY))).toEqual(['3', '4'])
        expect(texts(await store.entriesAfter(NIL_ID, 10, PLENTY))).toEqual([
          '1',
          '2',
          '3',
          '4',
          '5',
        ])
      })

      test('what is read of the arrivals ends with the one that reaches the bound of bytes', async () => {
        const kilobyte = (i: number) => `${i}`.padEnd(500, 'ж') + '.'.repeat(3)
        const long = { feed: 'resonance', text: '', details: JSON.stringify(['y'.repeat(2_000)]) }
        await leaveAll([1, 2, 3, 4].map(kilobyte))
        await leave(long)
        await leaveAll(['last'])
        const read = async (position: string, maxBytes: number) => {
          const found = await store.entriesAfter(position, 10, maxBytes)
          return { length: found.length, last: found.at(-1)?.id ?? position }
        }
        const first = await read(NIL_ID, 1)
        expect(first.length).toBe(1)
        const next = await read(first.last, 2_000)
        expect(next.length).toBe(2)
        expect((await read(first.last, 2_100)).length).toBe(3)
        expect((await read(next.last, 3_000)).length).toBe(2)
        expect((await read(next.last, 4_000)).length).toBe(3)
        expect((await read(await store.lastArrival(), 1)).length).toBe(0)
      })

      test('a reader that follows arrivals while many write misses and repeats nothing', async () => {
        let writing = true
        const written = Promise.all(
          Array.from({ length: 60 }, (_, i) => leave({ text: `${i}` })),
        ).finally(() => {
          writing = false
        })
        const seen: string[] = []
        let position = NIL_ID
        for (let more = true; more; ) {
          const wasWriting = writing
          const arrivals = await store.entriesAfter(position, 7, PLENTY)
          seen.push(...arrivals.map(({ id }) => id))
          position = arrivals.at(-1)?.id ?? position
          more = wasWriting || arrivals.length > 0
          await new Promise(setImmediate)
        }
        expect(seen).toEqual([...(await written)].sort())
      })
    })

    describe('within bounds', () => {
      test('a composted entry is no longer kindred', async () => {
        await keeping(2)
        await leaveAll(['echo one', 'echo two', 'echo three'])
        expect(texts(await store.findKindred(['echo'], 5))).toEqual([...['echo three', 'echo two']])
      })

      test('composted entries no longer count', async () => {
        await keeping(2)
        await leaveAll(['1', '2', '3'])
        await leaveAll(['4'], { room: 'shepit-wall' })
        await leaveAll(['5'], { room: 'shepit-wall' })
        const rooms = await store.summarizeRooms(1)
        expect(rooms.map(({ room, count }) => [room, count])).toEqual([['shepit-wall', 2]])
      })

      test('arrivals of one moment are each found by word and label, counted, and composted', async () => {
        await keeping(15)
        const feeds = ['seeds', 'garden'] as const
        const arrive = (feed: string, i: number) => {
          const labels = [`type:${i % 2 ? 'odd' : 'even'}`]
          return leave({ feed, text: `${feed}${i} ${feed}`, labels })
        }
        await Promise.all(
          feeds.flatMap((feed) => Array.from({ length: 20 }, (_, i) => arrive(feed, i))),
        )
        const [room] = await store.summarizeRooms(0)
        expect(room?.count).toBe(30)
        const kept = await everyPage(50)
        expect(kept).toHaveLength(15)
        expect(texts(await everyPage(50, ['type:odd'])).sort()).toEqual(
          texts(kept)
            .filter((text) => /[13579] /.test(text))
            .sort(),
        )
        for (const { text } of kept) {
          expect(texts(await store.findKindred(text.split(' ', 1), 5))).toEqual([text])
        }
        expect(await store.findKindred(['seeds', 'garden'], 50)).toHaveLength(30)
      })
    })
  })
})
