/** The HTTP server: Node's limits, parser errors, and draining. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, BlockList, Socket } from 'node:net'
import type { ErrorCode } from '../errors.ts'
import type { Timers } from '../timers.ts'
import { peerKey } from './address.ts'
import type { Answer, Incoming, Serve } from './call.ts'
import { type Compressed, createCompressor } from './compress.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { nodeHttp } from './node-http.ts'
import { oneAtATime } from './pipelining.ts'
import { targetOf } from './target.ts'
import { type Senders, sendText, sendWhole, type Throughput, watchSenders } from './throughput.ts'

/** Deadlines and throughputs of clients, in milliseconds, and how long draining waits for them. */
export const PATIENCE = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  stallTimeout: 30_000,
  minThroughput: 4_096,
  throughputGrace: 30_000,
  answerTimeout: 3_600_000,
  keepAliveTimeout: 5_000,
  // Leaves time to close the store, so that the process ends within 10 s.
  drainLimit: 8_000,
}

export type Patience = Partial<typeof PATIENCE>

const SERVER_OPTIONS = {
  maxHeaderSize: 16 * 1024,
  // A request without Host gets our problem instead of Node's bare 400.
  requireHostHeader: false,
  // Node has one deadline for all requests; ours differ (`throughput.ts`).
  requestTimeout: 0,
  // Otherwise Node keeps the first of two Authorization headers, and they could not be refused.
  joinDuplicateHeaders: true,
}

const MAX_CONNECTIONS = 10_000

const DRAIN_SWEEP_MS = 50

/** So that the client can read the error. */
const LINGER_MS = 1_000

const parserErrors: Readonly<Record<string, ErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'header_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
}

/** Writes a response without a ServerResponse. */
function answerOnSocket(
  socket: Socket,
  { status, headers, body }: Answer,
  { after }: Timers,
): void {
  // Node has detached from this socket: an unhandled error would end the process, and an open
  // connection would stay forever.
  socket.on('error', () => socket.destroy())
  after(LINGER_MS, () => socket.destroy())
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

export interface Site {
  readonly serve: Serve
  readonly newRequestId: () => string
  /** A response for bytes that could not be parsed; its text is complete. */
  readonly refuseUnparsed: (code: ErrorCode, id: string) => Answer
  readonly timers: Timers
}

/** `reason`: Node's code of the error. */
function refuseUnparsed(reason: string | undefined, socket: Socket, site: Site): void {
  if (reason === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const code = parserErrors[reason ?? ''] ?? 'malformed_request'
  answerOnSocket(socket, site.refuseUnparsed(code, site.newRequestId()), site.timers)
}

const LOCAL = '127.0.0.1'

/** HTTP/1.0 has no Host: such a request, of a load balancer's probe, is for the address it came to. */
function hostOf({ headers, httpVersion, socket }: IncomingMessage): string | undefined {
  if (headers.host !== undefined || httpVersion !== '1.0') return headers.host
  const address = (socket.localAddress ?? LOCAL).replace('::ffff:', '')
  return `${address.includes(':') ? `[${address}]` : address}:${socket.localPort}`
}

function incomingOf(message: IncomingMessage, senders: Senders): Incoming | undefined {
  const target = targetOf(hostOf(message), message.url ?? '')
  if (!target) return undefined
  return {
    host: target.host,
    path: target.path,
    search: target.search,
    method: message.method ?? 'GET',
    // Except Set-Cookie, which is no request header, values are joined strings.
    requestHeaders: message.headers as Incoming['requestHeaders'],
    rawHeaders: message.rawHeaders,
    body: message,
    slowBody: () => senders.bodyOf(message),
    peer: message.socket.remoteAddress ?? LOCAL,
  }
}

/** Alternating names and values: Node writes them without lookups. */
function pairs(headers: Answer['headers']): string[] {
  const flat: string[] = []
  for (const name in headers) flat.push(name, headers[name] ?? '')
  return flat
}

async function send(
  outgoing: ServerResponse,
  { status, headers, body, bytes }: Answer,
  limits: Throughput,
  compressed?: Compressed,
): Promise<void> {
  outgoing.writeHead(status, pairs(compressed?.headers ?? headers))
  const whole = compressed?.bytes ?? bytes
  if (whole) await sendWhole(outgoing, whole, limits)
  else if (body === null) outgoing.end()
  else if (typeof body === 'string') await sendWhole(outgoing, body, limits)
  else await sendText(outgoing, body, limits)
}

interface ConnectionLimit {
  /** Concurrent connections; 0 means no limit. */
  readonly perAddress: number
  /** Peers that are trusted proxies. */
  readonly exempt: BlockList
}

/** Excess connections are closed without a response. */
function limitConnections(server: Server, { perAddress, exempt }: ConnectionLimit): void {
  const limit = createConcurrencyLimit({ perClient: perAddress })
  server.prependListener('connection', (socket: Socket) => {
    const peer = peerKey(socket.remoteAddress ?? '', exempt)
    if (peer === undefined) return
    const release = limit.take(peer)
    if (release) socket.once('close', release)
    else socket.destroy()
  })
}

export interface RunningServer {
  readonly host: string
  readonly port: number
  /** Stops accepting, finishes running requests, and closes the rest after `drainLimit`. */
  readonly drain: () => Promise<void>
}

function drain(server: Server, drainLimit: number, { after, every }: Timers): Promise<void> {
  return new Promise((resolve) => {
    const cancel = after(drainLimit, () => server.closeAllConnections())
    // A kept-alive connection is idle once its last request was answered.
    const stopSweeping = every(DRAIN_SWEEP_MS, () => server.closeIdleConnections())
    server.close(() => {
      cancel()
      stopSweeping()
      resolve()
    })
  })
}

/** Rejects with Node's error (EADDRINUSE, EACCES, …) if it cannot listen. */
export async function listen(
  site: Site,
  host: string,
  port: number,
  patience: Patience = {},
  connections?: ConnectionLimit,
): Promise<RunningServer> {
  const { timers } = site
  const limits = { ...PATIENCE, ...patience, timers }
  const compressor = createCompressor()
  // HEAD responses have no body.
  const compress = (given: Answer, { method, headers }: IncomingMessage) =>
    method === 'HEAD' ? undefined : compressor(given, headers['accept-encoding'])
  async function respond(message: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    if (!server.listening) outgoing.shouldKeepAlive = false
    senders.expect(message)
    const incoming = incomingOf(message, senders)
    const given = incoming ? await site.serve(incoming) : malformed()
    senders.answered(message)
    const compressing = compress(given, message)
    await send(outgoing, given, limits, compressing && (await compressing))
  }
  const senders = watchSenders(limits, (socket) =>
    refuseUnparsed('ERR_HTTP_REQUEST_TIMEOUT', socket, site),
  )
  // A malformed request line or Host never reaches the app.
  const malformed = () => site.refuseUnparsed('malformed_request', site.newRequestId())
  const listener = oneAtATime((message, outgoing) =>
    respond(message, outgoing).catch(() => void outgoing.destroy()),
  )
  const { headersTimeout, keepAliveTimeout, connectionsCheckingInterval } = limits
  const timeouts = { headersTimeout, keepAliveTimeout, connectionsCheckingInterval }
  const server = nodeHttp.createServer({ ...SERVER_OPTIONS, ...timeouts }, listener)
  server.maxConnections = MAX_CONNECTIONS
  if (connections) limitConnections(server, connections)
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    refuseUnparsed(error.code, socket, site),
  )
  // Node would close a CONNECT without a response, and refuse an unknown Expect without a body.
  server.on('connect', (_, socket: Socket) => answerOnSocket(socket, malformed(), timers))
  server.on('checkExpectation', listener)
  server.on('close', senders.close)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = server.address() as AddressInfo
  return {
    host: bound.address,
    port: bound.port,
    drain: () => drain(server, limits.drainLimit, timers),
  }
}
