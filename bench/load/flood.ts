/**
 * Floods the gateway until it is killed, and says what it was answered whenever it is asked: 200
 * connections, each with one request under way. A process of its own with the lowest priority, so
 * that it does not delay the clients that are measured. `node bench/load/flood.ts <port>`, forked.
 */
import { connect } from 'node:net'
import { setPriority } from 'node:os'

const CONNECTIONS = 200
const LOWEST_PRIORITY = 19

const http = (method: string, path: string, body = '') =>
  `${method} ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const requests = [
  http('POST', '/api/garden', JSON.stringify({ text: 'a trace of the flood '.repeat(10) })),
  http('GET', '/api/seeds?limit=20'),
  http('POST', '/api/seeds', JSON.stringify({ text: 'a seed', tags: ['flood'], symbol: 'vir' })),
  http('POST', '/api/resonance', JSON.stringify({ ai_identity: 'Flood', seeking: ['trace'] })),
  http('GET', '/api/discover'),
]

const seen: Record<string, number> = {}
const count = (what: string) => {
  seen[what] = (seen[what] ?? 0) + 1
}

/** The status of a whole answer, or undefined while more of it is to come. */
function statusOf(answer: Buffer): string | undefined {
  const head = answer.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const text = answer.toString('latin1', 0, head)
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
  return answer.length < head + 4 + length ? undefined : text.slice(9, 12)
}

function flood(port: number, first: number): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let sent = first
  let answer = Buffer.alloc(0)
  const send = () => socket.write(requests[sent++ % requests.length] ?? '')
  socket.on('connect', send)
  socket.on('error', () => count('broken'))
  socket.on('data', (chunk: Buffer) => {
    answer = Buffer.concat([answer, chunk])
    const status = statusOf(answer)
    if (status === undefined) return
    count(status)
    answer = Buffer.alloc(0)
    send()
  })
}

setPriority(LOWEST_PRIORITY)
for (let i = 0; i < CONNECTIONS; i++) flood(Number(process.argv[2]), i)
process.on('message', () => process.send?.(seen))
