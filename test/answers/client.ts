/** A client that gives every answer as it was on the wire: headers in their own spelling. */
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { exchange } from '../http/socket.ts'

/** The name by which every request calls the service, whatever port it listens on. */
export const HOST = 'localhost'

export interface Answer {
  /** `404 Not Found` */
  readonly status: string
  /** In the order and spelling of the wire. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
}

export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body?: Buffer | undefined
}

export const headerOf = ({ headers }: Answer, name: string): string =>
  headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? ''

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, i): [string, string][] => (i % 2 ? [] : [[name, flat[i + 1] ?? '']]))
}

const answerOf = (message: IncomingMessage, body: Buffer): Answer => ({
  status: `${message.statusCode} ${message.statusMessage}`,
  headers: pairs(message.rawHeaders),
  body,
})

export interface Client {
  readonly send: (request: Request) => Promise<Answer>
  /** Reads an answer that never ends, and leaves when it has brought what matches. */
  readonly listen: (request: Request, until: RegExp) => Promise<Answer>
  /** Sends bytes as they are, and reads until the server closes. */
  readonly sendBytes: (bytes: Buffer, end: boolean) => Promise<Answer>
  readonly close: () => void
}

const NO_BODY = /^(GET|HEAD|OPTIONS)$/

export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })

  function begin({ method, path, headers, body }: Request, shared: boolean): ClientRequest {
    const length = String(body?.length ?? 0)
    const sized = body || !NO_BODY.test(method) ? [['Content-Length', length] as const] : []
    const sent = [['Host', HOST] as const, ...sized, ...headers].flat()
    const options = { host: '127.0.0.1', port, method, path, headers: sent }
    return request({ ...options, ...(shared ? { agent } : { agent: false }) }).end(body)
  }

  const answered = (begun: ClientRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => begun.on('response', resolve).on('error', reject))

  return {
    async send(asked) {
      const message = await answered(begin(asked, true))
      return answerOf(message, Buffer.concat(await message.toArray()))
    },
    async listen(asked, until) {
      const message = await answered(begin(asked, false))
      let text = ''
      for await (const chunk of message) {
        text += chunk
        if (until.test(text)) break
      }
      return answerOf(message, Buffer.from(text))
    },
    sendBytes: async (bytes, end) => parse(await exchange(port, bytes, { end })),
    close: () => agent.destroy(),
  }
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'

function parse(bytes: Buffer): Answer {
  if (bytes.toString('latin1').startsWith(CONTINUE)) {
    const answer = parse(bytes.subarray(CONTINUE.length))
    return { ...answer, status: `100 Continue, then ${answer.status}` }
  }
  const end = bytes.indexOf('\r\n\r\n')
  const [statusLine = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  return {
    status: statusLine.replace('HTTP/1.1 ', ''),
    headers: lines.map((line) => {
      const [name = '', value = ''] = line.split(/: (.*)/)
      return [name, value]
    }),
    body: bytes.subarray(end + 4),
  }
}
