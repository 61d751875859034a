/** What comes in pieces: exports, imports, long lists, and what happens as it happens. */
import { AgentHome, HomeError, ImportConflict } from 'agent-home-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LossyWay, openLossyWay } from './lossy.ts'
import { type OpenedHome, openHome } from './opened.ts'
import { all, caught } from './outcome.ts'

async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) if (found.push(item) === count) break
  return found
}

const keys = (memories: readonly { readonly key: string }[]) => memories.map(({ key }) => key)

describe('a stream', () => {
  let opened: OpenedHome
  let way: LossyWay
  beforeAll(async () => {
    opened = await openHome()
    way = await openLossyWay(opened.port)
  })
  afterAll(async () => {
    await way.close()
    await opened.close()
  })

  /** So many memories, keys in the order of their numbers. */
  async function filled(count: number, text = 'word') {
    const born = await opened.born()
    const names = Array.from({ length: count }, (_, n) => `m${String(n).padStart(4, '0')}`)
    for (let at = 0; at < count; at += 100) {
      const writes = names
        .slice(at, at + 100)
        .map((key) => ({ write: { key, text: `${text} of ${key}`, expectedVersion: 0 } }))
      await born.home.batch(writes)
    }
    return { ...born, names }
  }

  test('of a list has every memory, over all pages, and asks no further than it is read', async () => {
    const { token, names } = await filled(250)
    let asked = 0
    const home = new AgentHome({
      url: opened.url,
      token,
      fetch: (...args) => {
        asked++
        return fetch(...args)
      },
    })
    expect(keys(await all(home.list()))).toEqual(names)
    expect(asked).toBe(3)
    expect(keys(await take(home.list({ prefix: 'm01' }), 2))).toEqual(['m0100', 'm0101'])
    expect(asked).toBe(4)
    expect(keys(await all(home.list({ prefix: 'm0', after: 'm0247' })))).toEqual(['m0248', 'm0249'])
    const [newest] = await take(home.list({ order: 'changed', view: 'whole' }), 1)
    expect(newest).toMatchObject({ key: 'm0249', text: 'word of m0249' })
    expect(keys(await all(home.search('word'))).toSorted()).toEqual(names)
    expect(keys(await all(home.search('of m0017')))).toEqual(['m0017'])
    const events = await all(home.events())
    expect(events.map(({ id }) => id)).toEqual(Array.from({ length: 250 }, (_, n) => n + 1))
    expect((await all(home.events({ after: 248 }))).map(({ key }) => key)).toEqual([
      'm0248',
      'm0249',
    ])
  })

  test('of an export goes into the import of another agent, whole', async () => {
    const { home, names } = await filled(120)
    await home.write('m0000', 'again', { expectedVersion: 1 })
    const other = await opened.born()
    const imported = await other.operator.import(await home.export({ history: true }))
    expect(imported).toEqual({ imported: 120, skipped: 0, conflicts: [] })
    expect(keys(await all(other.home.list()))).toEqual(names)
    expect((await all(other.home.versions('m0000'))).map(({ version }) => version)).toEqual([2, 1])

    const again = await caught(other.operator.import(await home.export()))
    expect(again).toBeInstanceOf(ImportConflict)
    expect((again as ImportConflict).conflicts).toContain('m0000')
    const text = await new Response(await home.export()).text()
    const dry = await other.operator.import(text, { onConflict: 'skip', dryRun: true })
    expect(dry).toMatchObject({ imported: 0, skipped: 120 })
  })

  test('of an export ends with its reader’s signal, and another can be taken', async () => {
    const { home } = await filled(300, 'A'.repeat(8_000))
    const reason = new Error('the user left')
    const leaving = new AbortController()
    const reading = (async () => {
      for await (const _ of await home.export({ signal: leaving.signal })) leaving.abort(reason)
    })()
    expect(await caught(reading)).toBe(reason)
    const { memoryCount } = await new Response(await home.export()).json()
    expect(memoryCount).toBe(300)
  })

  test('of an export may be left at any piece, or before the first', async () => {
    const { home } = await filled(300, 'A'.repeat(8_000))
    for await (const piece of await home.export()) {
      expect(piece.length).toBeGreaterThan(0)
      break
    }
    await (await home.export()).cancel()
    const { memoryCount } = await new Response(await home.export()).json()
    expect(memoryCount).toBe(300)
  })

  test('of an export waits for its reader, however slow, and not for a home that says nothing', async () => {
    const sending = (...pieces: string[]) =>
      new AgentHome({
        ...{ url: 'http://home.example', token: 'any', retries: 0 },
        fetch: async (_, { signal } = {}) =>
          new Response(
            new ReadableStream({
              start(controller) {
                for (const piece of pieces) controller.enqueue(Buffer.from(piece))
                signal?.addEventListener('abort', () => controller.error(signal.reason))
              },
            }),
          ),
      })
    const reading = async (home: AgentHome) => (await home.export({ timeout: 10 })).getReader()
    const slow = await reading(sending('a', 'b'))
    const first = await slow.read()
    const silent = await reading(sending())
    expect(await caught(silent.read())).toMatchObject({ name: 'TimeoutError' })
    const texts = [first, await slow.read()].map(({ value }) => Buffer.from(value ?? '').toString())
    expect(texts).toEqual(['a', 'b'])
  })

  test('of an export that breaks off throws: half of a home is none', async () => {
    const { token } = await filled(300, 'A'.repeat(8_000))
    const home = new AgentHome({ url: way.url, token })
    way.cutAfter(200_000)
    const error = await caught(home.export().then((stream) => new Response(stream).text()))
    expect(error).toBeInstanceOf(HomeError)
    expect(error).toMatchObject({ code: 'no_answer' })
  })

  test('of events goes on where it was cut off, without loss or repetition', async () => {
    const { home, token } = await opened.born()
    const watched = new AgentHome({ url: way.url, token }).watch({ after: 0 })
    const seen: unknown[] = []
    await home.append('log', '.')
    for await (const event of watched) {
      seen.push('version' in event && event.version)
      if (seen.length === 6) break
      if (seen.length % 2 === 0) way.breakAll()
      await home.append('log', '.')
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('of events begins with now, and what happens while it is cut off is not lost', async () => {
    const { home, token } = await opened.born()
    await home.append('log', 'before')
    const watched = new AgentHome({ url: way.url, token }).watch()[Symbol.asyncIterator]()
    const first = watched.next()
    await way.passed('id: 1\n')
    way.breakAll()
    await home.append('log', 'after')
    expect((await first).value).toMatchObject({ type: 'append', version: 2 })
    await watched.return?.(undefined)
  })

  test('of events keeps its place through quiet time, and lets go of what it leaves', async () => {
    const asked: (string | null)[] = []
    const left: unknown[] = []
    const open = () =>
      new ReadableStream({
        start: (here) => here.enqueue(Buffer.from('id: 8\ndata: {"id":8,"type":"write"}\n\n')),
        cancel: (reason) => void left.push(reason),
      })
    const bodies = ['id: 7\ndata: {"id":7,"type":"write"}\n\n:\n\n', open()]
    const home = new AgentHome({
      url: opened.url,
      token: 'a',
      fetch: async (_, init) => {
        asked.push(new Headers(init?.headers).get('last-event-id'))
        return new Response(bodies.shift())
      },
    })
    const seen = await take(home.watch({ after: 5 }), 2)
    expect(seen.map((event) => 'id' in event && event.id)).toEqual([7, 8])
    expect(asked).toEqual(['5', '7'])
    expect(left).toHaveLength(1)
  })

  test('of events with one that has no end is left', async () => {
    const bodies = ['A'.repeat(1_000_001)]
    const fetching: typeof fetch = async () => {
      const body = bodies.pop()
      if (body === undefined) throw new TypeError('fetch failed')
      return new Response(body)
    }
    const home = new AgentHome({ url: opened.url, token: 'a', fetch: fetching, retries: 0 })
    expect(await caught(take(home.watch(), 1))).toMatchObject({ code: 'answer_too_large' })
  })

  test('of events says what the log no longer held', async () => {
    const short = await openHome({ EVENTS_PER_AGENT: '3' })
    const { home } = await short.born()
    for (let n = 0; n < 100; n++) await home.append('log', '.')
    const [missed, next] = await take(home.watch({ after: 1 }), 2)
    expect(missed).toMatchObject({ type: 'missed', after: 1 })
    expect(next).toMatchObject({ id: (missed as { first: number }).first })
    await short.close()
  })

  test('of events ends with what the home refuses, or with its reader’s signal', async () => {
    const { home, operator } = await opened.born()
    await home.append('log', '.')
    const watched = home.watch({ after: 0 })[Symbol.asyncIterator]()
    expect((await watched.next()).value).toMatchObject({ type: 'append' })
    await operator.pause()
    const types: unknown[] = []
    const rest = (async () => {
      for (;;) types.push((await watched.next()).value?.type)
    })()
    expect(await caught(rest)).toMatchObject({ code: 'agent_paused', status: 403 })
    expect(types.filter((type) => type !== 'pause')).toEqual([])
    await operator.activate()

    const reason = new Error('the user left')
    const leaving = new AbortController()
    const reading = (async () => {
      for await (const _ of home.watch({ after: 0, signal: leaving.signal })) leaving.abort(reason)
    })()
    expect(await caught(reading)).toBe(reason)
  })
})
