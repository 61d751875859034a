/** A way to a home on which the next requests meet what they are told to: for both clients. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What others ask of the home meanwhile, with the same token. */
export interface Meanwhile {
  readonly method: string
  readonly path: string
  /** A string is sent as it stands. */
  readonly body?: unknown
}

/** What becomes of one request. `{}`: nothing. */
export interface Fault {
  /** The connection breaks: before the home is asked, or when it has answered. */
  readonly lose?: 'request' | 'answer'
  readonly meanwhile?: readonly Meanwhile[]
  /** Nobody ever answers. */
  readonly silence?: boolean
  /** An answer begins, and never ends: now and then a byte, or as many as are taken. */
  readonly endless?: 'drip' | 'flood'
  /** Given instead of the home's. */
  readonly answer?: {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body: unknown
  }
  /** The answer breaks off after so many bytes of its body. */
  readonly cut?: number
  /** It comes byte by byte. */
  readonly bytewise?: boolean
}

export interface FaultyWay {
  readonly url: string
  readonly close: () => Promise<void>
}

const sent = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

const DRIP_MS = 20

const SPACES = ' '.repeat(65_536)

function neverEnd(response: ServerResponse, how: 'drip' | 'flood'): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  if (how === 'drip') {
    const dripping = setInterval(() => response.write(' '), DRIP_MS)
    response.once('close', () => clearInterval(dripping))
    return
  }
  const pour = () => {
    while (!response.destroyed && response.write(SPACES));
  }
  response.on('drain', pour)
  pour()
}

/**
 * `PUT /faults` with a list says what the next requests meet; `GET /faults` answers how many came
 * since then.
 */
export async function openFaultyWay(port: number): Promise<FaultyWay> {
  let faults: readonly Fault[] = []
  let asked = 0
  const url = `http://127.0.0.1:${port}`

  async function others({ meanwhile = [] }: Fault, authorization = ''): Promise<void> {
    const headers = { authorization, 'content-type': 'application/json' }
    for (const { method, path, body } of meanwhile) {
      const given = body === undefined ? {} : { body: sent(body) }
      const { ok, status } = await fetch(url + path, { method, headers, ...given })
      if (!ok) throw new Error(`${method} ${path} was answered ${status} meanwhile`)
    }
  }

  async function control(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.method === 'PUT') {
      faults = JSON.parse(await text(incoming))
      asked = 0
    }
    response.end(JSON.stringify({ asked }))
  }

  async function pass(body: string, from: IncomingMessage, to: ServerResponse, fault: Fault) {
    const { method, headers, url: path = '' } = from
    const home = request(url + path, { method, headers: { ...headers, host: `127.0.0.1:${port}` } })
    to.once('close', () => home.destroy())
    home.end(body)
    const [answer]: IncomingMessage[] = await once(home, 'response')
    if (!answer) return
    if (fault.lose) {
      await text(answer)
      await others(fault, headers.authorization)
      from.socket.destroy()
      return
    }
    to.writeHead(answer.statusCode ?? 500, answer.headers)
    to.flushHeaders()
    let left = fault.cut ?? Number.POSITIVE_INFINITY
    for await (const piece of answer as AsyncIterable<Buffer>) {
      const room = piece.subarray(0, left)
      left -= room.length
      const pieces = fault.bytewise ? Array.from(room, (byte) => Buffer.of(byte)) : [room]
      for (const each of pieces) {
        to.write(each)
        // Otherwise they would go together.
        if (fault.bytewise) await new Promise(setImmediate)
      }
      if (left > 0) continue
      to.write('', () => from.socket.destroy())
      return
    }
    to.end()
  }

  async function meet(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (incoming.url === '/faults') return control(incoming, response)
    asked++
    const [fault = {}, ...rest] = faults
    faults = rest
    const body = await text(incoming)
    if (fault.silence) return
    if (fault.endless) return void neverEnd(response, fault.endless)
    if (fault.lose === 'request') {
      await others(fault, incoming.headers.authorization)
      incoming.socket.destroy()
      return
    }
    if (fault.answer) {
      const { status, headers = {}, body: given } = fault.answer
      const type = status < 400 ? 'application/json' : 'application/problem+json'
      response.writeHead(status, { 'content-type': type, ...headers }).end(sent(given))
      return
    }
    await pass(body, incoming, response, fault)
  }

  const server = createServer((incoming, response) => {
    // Who left hears nothing of it.
    void meet(incoming, response).catch(() => incoming.socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
