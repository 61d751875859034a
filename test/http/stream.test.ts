import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Answer, Incoming, TextStream } from '../../src/http/call.ts'
import { listen, type Patience, type RunningServer } from '../../src/http/server.ts'
import { siteOf } from './listening.ts'
import { exchange, request } from './socket.ts'

async function* pieces(...texts: (string | Error)[]): AsyncGenerator<string> {
  for (const text of texts) {
    if (text instanceof Error) throw text
    yield text
  }
}

/** Milliseconds. What has to end a test is the one limit that it is about. */
const NEVER = 3_600_000

const patience = { stallTimeout: 100 }

/** A source without end, and how often it was asked. */
function endless(piece: string) {
  let asked = 0
  async function* source(): AsyncGenerator<string> {
    for (;;) {
      asked++
      yield piece
    }
  }
  return { source: source(), asked: () => asked }
}

/** Whether the server broke it. */
const broken = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close')

/** Asks, and reads a little now and then. */
function dawdle(port: number): Socket {
  const socket = stall(port)
  const sip = setInterval(() => socket.read(16_384), 10)
  return socket.on('close', () => clearInterval(sip))
}

/** A source that has nothing to say for as long as it is held. */
async function* silent(held: Promise<void>): AsyncGenerator<string> {
  await held
  yield ''
}

/** A server that answers everything with one stream, and when its source was let go. */
async function serving(
  open: (incoming: Incoming) => AsyncIterable<string>,
  patience: Patience = { stallTimeout: 100 },
  ended?: AbortSignal,
) {
  const closed = Promise.withResolvers<void>()
  const serve = async (incoming: Incoming): Promise<Answer> => {
    const body: TextStream = { pieces: open(incoming), close: closed.resolve, ended }
    return { status: 200, headers: {}, body }
  }
  const server: RunningServer = await listen(siteOf(serve), '127.0.0.1', 0, patience)
  return { server, closed: closed.promise }
}

/** Asks, and never reads. */
function stall(port: number): Socket {
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(get)
  // The server may break the connection while we still say something.
  return socket.on('error', () => {})
}

const get = request('GET / HTTP/1.1')

/** Of a connection that goes on. */
const getNext = 'GET / HTTP/1.1\r\nHost: home.test\r\n\r\n'

test('a stream read to its end closes its source', async () => {
  const { server, closed } = await serving(() => pieces('é', 'b'))
  const text = (await exchange(server.port, get)).toString()
  expect(text).toMatch(/^HTTP\/1\.1 200 .*Transfer-Encoding: chunked.*é.*b.*\r\n0\r\n\r\n$/s)
  await closed
  await server.drain()
})

test('an answer that fails after its first byte breaks off: it never ends as if it were whole', async () => {
  const { server, closed } = await serving(() =>
    pieces('{"memories":[', new Error('the disk is gone')),
  )
  const text = (await exchange(server.port, get)).toString()
  expect(text).toMatch(/^HTTP\/1\.1 200 .*Transfer-Encoding: chunked.*memories/s)
  expect(text).not.toMatch(/\r\n0\r\n\r\n$/)
  await closed
  await server.drain()
})

test('a reader that leaves closes the source', async () => {
  const { source, asked } = endless('x'.repeat(65_536))
  const { server, closed } = await serving(() => source)
  const socket = connect(server.port, '127.0.0.1')
  socket.write(get)
  await once(socket, 'data')
  socket.destroy()
  await closed
  const before = asked()
  for (let turns = 0; turns < 50; turns++) await turn()
  expect(asked()).toBe(before)
  await server.drain()
})

test('a reader that left before its answer began closes the source, which waits', async () => {
  const came = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const serve = async ({ body: sent }: Incoming): Promise<Answer> => {
    came.resolve()
    await new Promise((resolve) => sent.once('close', resolve))
    const body: TextStream = { pieces: silent(closed.promise), close: closed.resolve }
    return { status: 200, headers: {}, body }
  }
  const server = await listen(siteOf(serve), '127.0.0.1', 0)
  const socket = connect(server.port, '127.0.0.1')
  socket.write(get)
  await came.promise
  socket.destroy()
  await closed.promise
  await server.drain()
})

test('a reader that takes nothing holds back the source, and is dropped', async () => {
  const { source, asked } = endless('x'.repeat(1_000_000))
  const { server, closed } = await serving(() => source)
  const socket = stall(server.port)
  await closed
  expect(asked()).toBeLessThan(100)
  socket.destroy()
  await server.drain()
})

test('an answer that is ended breaks off, though nobody takes what was written', async () => {
  const ending = new AbortController()
  const { source, asked } = endless('x'.repeat(1_000_000))
  const patient = { stallTimeout: 60_000, throughputGrace: 60_000 }
  const { server, closed } = await serving(() => source, patient, ending.signal)
  const socket = stall(server.port)
  while (asked() === 0) await turn()
  ending.abort()
  await closed
  const received = socket.resume().toArray()
  expect(Buffer.concat(await received).toString()).not.toMatch(/\r\n0\r\n\r\n$/)
  await server.drain()
})

test('an answer that was ended before it began is not begun', async () => {
  const { source, asked } = endless('x')
  const { server, closed } = await serving(() => source, patience, AbortSignal.abort())
  const socket = stall(server.port)
  await broken(socket)
  await closed
  expect(asked()).toBe(0)
  await server.drain()
})

test('what a reader says is no sign that it reads', async () => {
  const { server, closed } = await serving(() => endless('x'.repeat(1_000)).source)
  const socket = stall(server.port)
  const talk = setInterval(() => socket.write('\r\n'), patience.stallTimeout / 5)
  await closed
  clearInterval(talk)
  socket.destroy()
  await server.drain()
})

/** Fills all room between the two ends, then goes on little by little. */
async function* fillThenBeat({ body }: Incoming): AsyncGenerator<string> {
  if (!(body instanceof IncomingMessage)) throw new Error('the request came by no socket')
  while (body.socket.writableLength === 0) {
    yield 'x'.repeat(20_000)
    await turn()
  }
  for (;;) {
    yield ':\n\n'
    await pause(patience.stallTimeout / 5)
  }
}

test('what is still sent to a reader that takes nothing does not keep it', async () => {
  const { server, closed } = await serving(fillThenBeat)
  const socket = stall(server.port)
  await closed
  socket.destroy()
  await server.drain()
})

test('a reader that takes less than the least pace is dropped, though it never stalls', async () => {
  const { source } = endless('x'.repeat(16_384))
  const slow = { stallTimeout: NEVER, minThroughput: 1_000_000_000, throughputGrace: 100 }
  const { server, closed } = await serving(() => source, slow)
  const socket = dawdle(server.port)
  await closed
  socket.destroy()
  await server.drain()
})

test('a reader that keeps the pace is not dropped for what its source takes', async () => {
  const least = { stallTimeout: 100, minThroughput: 1_000, throughputGrace: 50 }
  async function* slowly(): AsyncGenerator<string> {
    for (let n = 0; n < 5; n++) {
      await pause(60)
      yield `<${n}>`
    }
  }
  const { server } = await serving(slowly, least)
  expect((await exchange(server.port, get)).toString()).toMatch(/<4>.*\r\n0\r\n\r\n$/s)
  await server.drain()
})

test('an answer has a deadline, though its reader is quick and its source has nothing to say', async () => {
  const held = Promise.withResolvers<void>()
  const { server, closed } = await serving(() => silent(held.promise), {
    stallTimeout: NEVER,
    answerTimeout: 100,
  })
  const socket = stall(server.port)
  await broken(socket)
  await closed
  held.resolve()
  await server.drain()
})

describe('an answer that is one text', () => {
  const unpaced = { ...patience, throughputGrace: NEVER }

  async function answering(text: string, patience: Patience = {}) {
    const left = Promise.withResolvers<void>()
    const serve = async ({ body }: Incoming): Promise<Answer> => {
      if (body instanceof IncomingMessage) body.socket.once('close', left.resolve)
      const headers = { 'Content-Length': String(Buffer.byteLength(text)) }
      return { status: 200, headers, body: text }
    }
    const server = await listen(siteOf(serve), '127.0.0.1', 0, patience)
    return { server, left: left.promise }
  }

  test.each([1, 60_000, 65_536, 65_537, 300_000, 3_000_000])(
    'of %i letters comes whole',
    async (letters) => {
      const text = 'ж'.repeat(letters)
      const { server } = await answering(text)
      const given = (await exchange(server.port, get)).toString()
      expect(given.slice(given.indexOf('\r\n\r\n') + 4) === text).toBe(true)
      await server.drain()
    },
  )

  test('and is not taken is dropped', async () => {
    const { server, left } = await answering('x'.repeat(20_000_000), unpaced)
    const socket = stall(server.port)
    await left
    socket.destroy()
    await server.drain()
  })

  test('of many that are asked for and not taken is dropped too', async () => {
    const { server, left } = await answering('x'.repeat(60_000), unpaced)
    const socket = stall(server.port)
    const ask = setInterval(() => socket.write(getNext), 1)
    await left
    clearInterval(ask)
    socket.destroy()
    await server.drain()
  })
})
