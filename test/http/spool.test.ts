import { afterEach, describe, expect, test, vi } from 'vitest'
import { createSpool } from '../../src/http/spool.ts'

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

const read = async (pieces: AsyncIterable<string>): Promise<string> =>
  (await Array.fromAsync(pieces)).join('')

test.each([
  ['nothing', []],
  ['a little', ['{"a":', '1}']],
  ['more than stays in memory', Array.from({ length: 50 }, (_, n) => `${n}ж🌱`.repeat(2_000))],
  ['one long piece', ['ж'.repeat(300_000)]],
])('%s is kept and read as it was', async (_, texts) => {
  const { pieces, close } = await createSpool({ maxBytes: 0 }).keep(streamOf(...texts).stream)
  expect((await read(pieces)) === texts.join('')).toBe(true)
  close()
})

test('the source is closed before anybody reads', async () => {
  const { stream, closed } = streamOf('x'.repeat(100_000))
  const kept = await createSpool({ maxBytes: 0 }).keep(stream)
  expect(closed()).toBe(1)
  kept.close()
})

test('what nobody reads is let go all the same', async () => {
  const spool = createSpool({ maxBytes: 200_000 })
  for (let n = 0; n < 5; n++) {
    const kept = await spool.keep(streamOf('x'.repeat(150_000)).stream)
    kept.close()
    kept.close()
  }
})

test('all that is kept at once is bounded, in bytes', async () => {
  const spool = createSpool({ maxBytes: 100_000 })
  const first = await spool.keep(streamOf('ж'.repeat(40_000)).stream)
  const { stream, closed } = streamOf('x'.repeat(15_000), 'x'.repeat(15_000))
  await expect(spool.keep(stream)).rejects.toMatchObject({ code: 'exports_busy' })
  expect(closed()).toBe(1)
  // What was refused on the way takes no room.
  const second = await spool.keep(streamOf('x'.repeat(20_000)).stream)
  first.close()
  const third = await spool.keep(streamOf('x'.repeat(80_000)).stream)
  for (const each of [second, third]) each.close()
})

test('a source that fails is closed, and takes no room', async () => {
  const spool = createSpool({ maxBytes: 100_000 })
  const { stream, closed } = streamOf('x'.repeat(90_000), new Error('the disk is gone'))
  await expect(spool.keep(stream)).rejects.toThrow('the disk is gone')
  expect(closed()).toBe(1)
  const kept = await spool.keep(streamOf('x'.repeat(100_000)).stream)
  kept.close()
})

describe('where the disk takes nothing', () => {
  const withoutDisk = () => vi.stubEnv('TMPDIR', '/nowhere/at/all')
  afterEach(() => vi.unstubAllEnvs())

  const long = Array.from({ length: 20 }, (_, n) => `${n}ж🌱`.repeat(2_000))

  test('a long text waits in memory', async () => {
    withoutDisk()
    const { pieces, close } = await createSpool({ maxBytes: 0 }).keep(streamOf(...long).stream)
    expect((await read(pieces)) === long.join('')).toBe(true)
    close()
  })

  test('all texts together hold so much of it, and what is let go may be held again', async () => {
    withoutDisk()
    const spool = createSpool({ maxBytes: 0, memoryBytes: 50_000 })
    const text = () => streamOf('x'.repeat(65_536), 'y'.repeat(30_000))
    const first = await spool.keep(text().stream)
    const { stream, closed } = text()
    await expect(spool.keep(stream)).rejects.toMatchObject({ code: 'exports_busy' })
    expect(closed()).toBe(1)
    // What was refused on the way holds nothing, and what is short asks for nothing.
    const short = await spool.keep(streamOf('x'.repeat(65_536), 'y'.repeat(20_000)).stream)
    first.close()
    first.close()
    const third = await spool.keep(text().stream)
    for (const each of [short, third]) each.close()
    expect(await spool.keep(text().stream)).toBeDefined()
  })
})
