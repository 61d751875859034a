/** A client that sends what no HTTP library would, and keeps the answer to its own account of it. */
import { connect } from 'node:net'
import type { Refusal } from '../problem.ts'

export interface RawAnswer extends Refusal {
  readonly text: string
}

/** A server that does not answer within this is taken to hang. */
const HANG_MS = 600_000

function dechunk(body: Buffer): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (;;) {
    const end = body.indexOf('\r\n', at)
    const size = Number.parseInt(body.toString('latin1', at, end), 16)
    if (end < 0 || Number.isNaN(size)) throw new Error('the chunked answer is cut short')
    if (size === 0) return Buffer.concat(pieces)
    pieces.push(body.subarray(end + 2, end + 2 + size))
    at = end + 2 + size + 2
  }
}

function bodyOf(headers: Headers, rest: Buffer): Buffer {
  if (headers.get('transfer-encoding') === 'chunked') return dechunk(rest)
  const length = Number(headers.get('content-length') ?? 0)
  if (rest.length < length) throw new Error(`${rest.length} bytes of a body of ${length} arrived`)
  return rest.subarray(0, length)
}

function parse(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1])
  if (end < 0 || !status) throw new Error(`no HTTP answer: ${JSON.stringify(bytes.toString())}`)
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).trim()]
    }),
  )
  const text = bodyOf(headers, bytes.subarray(end + 4)).toString()
  const isJson = headers.get('content-type')?.includes('json') && text !== ''
  return { status, headers, text, body: isJson ? JSON.parse(text) : {} }
}

export interface Exchange {
  /** Ends our side after the last byte, as a client that is gone for good. */
  readonly end?: boolean
}

/** Sends the bytes and gives all that came back until the server closed the connection. */
export function exchange(
  port: number,
  bytes: string | Buffer,
  { end = false }: Exchange = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const received: Uint8Array[] = []
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    const hung = setTimeout(() => {
      socket.destroy()
      reject(new Error(`the server hung after ${Buffer.concat(received)}`))
    }, HANG_MS)
    const settle = () => {
      clearTimeout(hung)
      socket.destroy()
      resolve(Buffer.concat(received))
    }
    socket.on('data', (chunk: Buffer) => received.push(chunk))
    socket.on('end', settle)
    socket.on('close', settle)
    // A reset after the answer is the server's right; without one, parsing shows that it is missing.
    socket.on('error', settle)
    if (end) socket.end(bytes)
    else socket.write(bytes)
  })
}

export const send = async (
  port: number,
  bytes: string | Buffer,
  options?: Exchange,
): Promise<RawAnswer> => parse(await exchange(port, bytes, options))

/** A request as bytes: its head lines, Host and `Connection: close` among them, then its body. */
export const request = (
  requestLine: string,
  headers: readonly string[] = [],
  body: string | Buffer = '',
): Buffer =>
  Buffer.concat([
    Buffer.from(
      [requestLine, 'Host: home.test', 'Connection: close', ...headers, '', ''].join('\r\n'),
    ),
    Buffer.from(body),
  ])

/** The body in chunks of at most `size` bytes, as Transfer-Encoding writes them. */
export function chunked(body: Buffer, size: number): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += size) {
    const piece = body.subarray(at, at + size)
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
}
