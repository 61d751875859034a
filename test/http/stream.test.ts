import { expect, test, vi } from 'vitest'
import { streamText } from '../../src/http/stream.ts'

async function* pieces(...texts: (string | Error)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield text
  }
}

test('a stream read to its end closes its source', async () => {
  const close = vi.fn()
  expect(await new Response(streamText(pieces('é', 'b'), close)).text()).toBe('éb')
  expect(close).toHaveBeenCalledOnce()
})

test('a stream cancelled before its first byte closes its source', async () => {
  const close = vi.fn()
  await streamText(pieces('a'), close).cancel()
  expect(close).toHaveBeenCalledOnce()
})

test('a source that fails breaks the stream: it never ends as if whole', async () => {
  const close = vi.fn()
  const stream = streamText(pieces('a', new Error('disk')), close)
  await expect(new Response(stream).text()).rejects.toThrow('disk')
  expect(close).toHaveBeenCalledOnce()
})

test('a reader that stalls for 30 s is dropped', async () => {
  vi.useFakeTimers()
  const close = vi.fn()
  const reader = streamText(pieces('a', 'b'), close).getReader()
  await reader.read()
  vi.advanceTimersByTime(30_000)
  await expect(reader.read()).rejects.toThrow('stalled')
  expect(close).toHaveBeenCalledOnce()
  vi.useRealTimers()
})
