import { afterEach, describe, expect, test, vi } from 'vitest'
import { memoryExample } from '../../src/home/schemas.ts'
import { createSpool, keepIn, type SpoolBounds } from '../../src/home/spool.ts'
import type { TextStream } from '../../src/http/call.ts'

/** A stream that notes when it was closed. */
function streamOf(...texts: (string | Error)[]) {
  let closed = 0
  async function* pieces(): AsyncGenerator<string> {
    for (const text of texts) {
      if (text instanceof Error) throw text
      yield text
    }
  }
  const close = () => {
    closed++
  }
  return { stream: { pieces: pieces(), close }, closed: () => closed }
}

/** What one client keeps, unless another is named. */
function openSpool(bounds: SpoolBounds) {
  const spool = createSpool(bounds)
  return {
    async keep(stream: TextStream, client = '192.0.2.1') {
      const text = await keepIn(spool.open(client, 'exports_busy'), async () => stream)
      kept.push(text)
      return text
    },
  }
}

const kept: TextStream[] = []
afterEach(() => {
  for (const { close } of kept.splice(0)) close()
})

const read = async (pieces: AsyncIterable<string>): Promise<string> =>
  (await Array.fromAsync(pieces)).join('')

test.each([
  ['nothing', []],
  ['a little', ['{"a":', '1}']],
  ['more than stays in memory', Array.from({ length: 50 }, (_, n) => `${n}ж🌱`.repeat(2_000))],
  ['one long piece', ['ж'.repeat(300_000)]],
])('%s is kept and read as it was', async (_, texts) => {
  const { pieces, close } = await openSpool({ maxBytes: 0 }).keep(streamOf(...texts).stream)
  expect((await read(pieces)) === texts.join('')).toBe(true)
  await close()
})

test('the source is closed before anybody reads', async () => {
  const { stream, closed } = streamOf('x'.repeat(100_000))
  const kept = await openSpool({ maxBytes: 0 }).keep(stream)
  expect(closed()).toBe(1)
  await kept.close()
})

test('what nobody reads is let go all the same', async () => {
  const spool = openSpool({ maxBytes: 200_000 })
  for (let n = 0; n < 5; n++) {
    const kept = await spool.keep(streamOf('x'.repeat(150_000)).stream)
    await kept.close()
    await kept.close()
  }
})

test('all that a client keeps at once is bounded, in bytes', async () => {
  const spool = openSpool({ maxBytes: 100_000 })
  const first = await spool.keep(streamOf('ж'.repeat(40_000)).stream)
  const { stream, closed } = streamOf('x'.repeat(15_000), 'x'.repeat(15_000))
  await expect(spool.keep(stream)).rejects.toMatchObject({ code: 'exports_busy' })
  expect(closed()).toBe(1)
  // What was refused on the way takes no room.
  const second = await spool.keep(streamOf('x'.repeat(20_000)).stream)
  await first.close()
  const third = await spool.keep(streamOf('x'.repeat(80_000)).stream)
  for (const each of [second, third]) await each.close()
})

test('a client keeps no other from its share, of which there are four', async () => {
  const spool = openSpool({ maxBytes: 100_000 })
  const keep = (client: string, bytes: number) =>
    spool.keep(streamOf('x'.repeat(bytes)).stream, client)
  const greedy = await keep('192.0.2.1', 100_000)
  await expect(keep('192.0.2.1', 1)).rejects.toMatchObject({ code: 'exports_busy' })
  for (const n of [2, 3, 4]) await keep(`192.0.2.${n}`, 100_000)
  await expect(keep('192.0.2.5', 1)).rejects.toMatchObject({ code: 'exports_busy' })
  await greedy.close()
  await keep('192.0.2.5', 100_000)
})

test('a network of IPv6 keeps two shares, whatever it has clients', async () => {
  const spool = openSpool({ maxBytes: 100_000 })
  const keep = (client: string) => spool.keep(streamOf('x'.repeat(100_000)).stream, client)
  for (const n of [1, 2]) await keep(`2001:db8:0:${n}::/64`)
  await expect(keep('2001:db8:0:3::/64')).rejects.toMatchObject({ code: 'exports_busy' })
  await keep('2001:db8:1:1::/64')
})

test('a client keeps 64 at once, however short, and others as many', async () => {
  const spool = openSpool({ maxBytes: 0 })
  const [first] = await Promise.all(
    Array.from({ length: 64 }, () => spool.keep(streamOf('x').stream)),
  )
  await expect(spool.keep(streamOf('x').stream)).rejects.toMatchObject({ code: 'exports_busy' })
  await spool.keep(streamOf('x').stream, '192.0.2.2')
  await first?.close()
  await first?.close()
  await spool.keep(streamOf('x').stream)
  await expect(spool.keep(streamOf('x').stream)).rejects.toMatchObject({ code: 'exports_busy' })
})

test('what cannot be begun takes no room', async () => {
  const spool = createSpool({ maxBytes: 0 })
  for (let n = 0; n < 65; n++) {
    const refused = keepIn(spool.open('192.0.2.1', 'exports_busy'), async () => {
      throw new Error('paused')
    })
    await expect(refused).rejects.toThrow('paused')
  }
})

test('what is ended while it is read is let go, and takes no room', async () => {
  const spool = createSpool({ maxBytes: 100_000 })
  const { stream, closed } = streamOf('x'.repeat(90_000))
  const ended = AbortSignal.abort(new Error('it was erased'))
  const open = () => spool.open('192.0.2.1', 'exports_busy')
  await expect(keepIn(open(), async () => stream, ended)).rejects.toThrow('it was erased')
  expect(closed()).toBe(1)
  const { close } = await keepIn(open(), async () => streamOf('x'.repeat(100_000)).stream)
  await close()
})

test('a source that fails is closed, and takes no room', async () => {
  const spool = openSpool({ maxBytes: 100_000 })
  const { stream, closed } = streamOf('x'.repeat(90_000), new Error('the disk is gone'))
  await expect(spool.keep(stream)).rejects.toThrow('the disk is gone')
  expect(closed()).toBe(1)
  const kept = await spool.keep(streamOf('x'.repeat(100_000)).stream)
  await kept.close()
})

describe('where the disk takes nothing', () => {
  const withoutDisk = () => vi.stubEnv('TMPDIR', '/nowhere/at/all')
  afterEach(() => vi.unstubAllEnvs())

  const long = Array.from({ length: 20 }, (_, n) => `${n}ж🌱`.repeat(2_000))

  test('a long text waits in memory', async () => {
    withoutDisk()
    const { pieces, close } = await openSpool({ maxBytes: 0 }).keep(streamOf(...long).stream)
    expect((await read(pieces)) === long.join('')).toBe(true)
    await close()
  })

  test('the largest export of the default limits waits in memory', async () => {
    withoutDisk()
    const [memories, bytes] = [10_000, 67_108_864]
    const memory = { ...memoryExample, key: 'k'.repeat(100), text: '' }
    const all = bytes + memories * (JSON.stringify(memory).length + 1)
    const texts = Array.from({ length: 100 }, () => 'x'.repeat(all / 100))
    const { close } = await openSpool({ maxBytes: 0 }).keep(streamOf(...texts).stream)
    await close()
  })

  test('all texts of a client together hold so much of it, and what is let go may be held again', async () => {
    withoutDisk()
    const spool = openSpool({ maxBytes: 0, memoryBytes: 50_000 })
    const text = () => streamOf('x'.repeat(65_536), 'y'.repeat(30_000))
    const first = await spool.keep(text().stream)
    const { stream, closed } = text()
    await expect(spool.keep(stream)).rejects.toMatchObject({ code: 'exports_busy' })
    expect(closed()).toBe(1)
    // What was refused on the way holds nothing, and what is short asks for nothing.
    const short = await spool.keep(streamOf('x'.repeat(65_536), 'y'.repeat(20_000)).stream)
    await first.close()
    await first.close()
    const third = await spool.keep(text().stream)
    for (const each of [short, third]) await each.close()
    expect(await spool.keep(text().stream)).toBeDefined()
  })
})
