/** A body whose sender leaves, before or while it is read. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { PassThrough, type Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readBytes } from '../../src/http/body.ts'
import { type Answer, beginCall, type Incoming } from '../../src/http/call.ts'
import { listen } from '../../src/http/server.ts'
import { incomingOf } from '../harness.ts'
import { siteOf } from './listening.ts'
import { request } from './socket.ts'

/** What waits for what was already said would wait for ever. */
const HANG_MS = 5_000

const read = (incoming: Incoming) => readBytes(beginCall('r1', incoming, {}), 1_000)

const readFrom = (body: Readable) => read({ ...incomingOf('POST', '/', {}), body })

const closed = (body: Readable) => new Promise((resolve) => body.once('close', resolve))

/** A body of which something has come, and which waits for the rest. */
function begun(): PassThrough {
  const body = new PassThrough()
  body.on('error', () => {})
  body.write('{"text":')
  return body
}

const causes: [string, Error | undefined][] = [
  ['without a word', undefined],
  ['with an error', new Error('aborted')],
]

test.each(causes)(
  'a body that breaks off %s while it is read is incomplete',
  async (_, cause) => {
    const body = begun()
    const reading = readFrom(body)
    body.destroy(cause)
    await expect(reading).rejects.toMatchObject({ code: 'body_incomplete', cause })
  },
  HANG_MS,
)

test.each(causes)(
  'a body that broke off %s before it is read is incomplete at once',
  async (_, cause) => {
    const body = begun()
    body.destroy(cause)
    await expect(readFrom(body)).rejects.toMatchObject({ code: 'body_incomplete', cause })
    await expect(readFrom(body)).rejects.toMatchObject({ code: 'body_incomplete', cause })
  },
  HANG_MS,
)

const sent = [
  ['half of its body', request('POST / HTTP/1.1', ['Content-Length: 10'], '{"tex')],
  ['its whole body', request('POST / HTTP/1.1', ['Content-Length: 2'], '{}')],
] as const

test.each(sent)(
  'a client that leaves after %s and before it is read does not leave its request waiting',
  async (_, bytes) => {
    const began = Promise.withResolvers<void>()
    const outcome = Promise.withResolvers<unknown>()
    // The home asks its store who is there before it reads what they send.
    const serve = async (incoming: Incoming): Promise<Answer> => {
      began.resolve()
      await closed(incoming.body)
      outcome.resolve(read(incoming))
      return { status: 400, headers: {}, body: null }
    }
    const server = await listen(siteOf(serve), '127.0.0.1', 0)
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(bytes)
    await began.promise
    socket.destroy()
    await expect(outcome.promise).rejects.toMatchObject({ code: 'body_incomplete' })
    await server.drain()
  },
  HANG_MS,
)

test.each([
  ['with its headers', ['{"text":1}'], 0, 0],
  ['in two pieces', ['{"tex', 't":1}'], 0, 1],
  // As while a store is asked who is there.
  ['in two pieces before it is read', ['{"tex', 't":1}'], 10, 0],
])(
  'a body that comes %s is read whole, and the connection goes on',
  async (_, [first = '', ...rest], awaited, listeners) => {
    const taken: unknown[] = []
    const began = Promise.withResolvers<void>()
    const serve = async (incoming: Incoming): Promise<Answer> => {
      setImmediate(() => began.resolve())
      while (incoming.body.readableLength < awaited) await new Promise(setImmediate)
      const reading = read(incoming)
      taken.push(`${Buffer.from(await reading)}`, incoming.body.listenerCount('data'))
      return { status: 204, headers: {}, body: null }
    }
    const server = await listen(siteOf(serve), '127.0.0.1', 0)
    const socket = connect(server.port, '127.0.0.1').setNoDelay()
    await once(socket, 'connect')
    const head = 'POST / HTTP/1.1\r\nHost: home.test\r\nContent-Length: 10\r\n\r\n'
    socket.write(`${head}${first}`)
    await began.promise
    for (const piece of rest) socket.write(piece)
    expect(`${await once(socket, 'data')}`).toContain('204')
    socket.write(`${head}{"text":1}`)
    expect(`${await once(socket, 'data')}`).toContain('204')
    expect(taken).toEqual(['{"text":1}', listeners, '{"text":1}', 0])
    socket.destroy()
    await server.drain()
  },
  HANG_MS,
)
