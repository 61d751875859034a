import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { listen } from '../../src/http/server.ts'
import { streamText } from '../../src/http/stream.ts'
import { exchange, request } from './socket.ts'

async function* breaking(): AsyncGenerator<string> {
  yield '{"memories":['
  throw new Error('the disk is gone')
}

async function* whole(): AsyncGenerator<string> {
  yield '{"memories":[]}'
}

test('an answer that fails after its first byte breaks off: it never ends as if it were whole', async () => {
  // The adapter prints what broke the stream.
  vi.spyOn(console, 'error').mockReturnValue()
  const app = new Hono()
  app.get('/broken', () => new Response(streamText(breaking(), () => undefined)))
  app.get('/whole', () => new Response(streamText(whole(), () => undefined)))
  const server = await listen(app, '127.0.0.1', 0, () => 'r1')
  const get = async (path: string) =>
    (await exchange(server.port, request(`GET ${path} HTTP/1.1`))).toString()
  const broken = await get('/broken')
  expect(broken).toMatch(/^HTTP\/1\.1 200 .*Transfer-Encoding: chunked/s)
  expect(broken).not.toMatch(/\r\n0\r\n\r\n$/)
  expect(await get('/whole')).toMatch(/\r\n0\r\n\r\n$/)
  await server.drain()
})
