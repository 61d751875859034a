/** The thread of a siege: connections that are opened, used badly, and opened anew when they are closed. */
import { connect, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { Siege } from './besiege.ts'

const { host, port, addresses, connections, token, enough } = workerData as Siege

const head = (line: string, ...more: string[]): string =>
  [line, 'Host: home.test', ...more, '', ''].join('\r\n')

/** Sends the text a byte at a time, and never all of it. */
function drip(socket: Socket, text: string): void {
  let at = 0
  socket.resume()
  const next = setInterval(() => socket.write(text.charAt(at++ % text.length)), 500)
  socket.on('close', () => clearInterval(next))
}

const ways: readonly ((socket: Socket) => void)[] = [
  // Says nothing.
  (socket) => {
    socket.resume()
  },
  // Never ends its headers.
  (socket) => {
    socket.write('GET /api/garden HTTP/1.1\r\nHost: home.test\r\nX-Slow: ')
    drip(socket, 'a')
  },
  // Never ends its body, of the gateway and of a form.
  (socket) => {
    socket.write(
      head('POST /api/garden HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 60000'),
    )
    drip(socket, ' ')
  },
  (socket) => {
    const type = 'Content-Type: application/x-www-form-urlencoded'
    socket.write(head('POST /console/sign-in HTTP/1.1', type, 'Content-Length: 60000'))
    drip(socket, 'a=')
  },
  // Asks for a stream, for pages and for an export, and reads none of them.
  (socket) => {
    socket.pause().write(head('GET /api/resonance/stream HTTP/1.1'))
  },
  (socket) => {
    socket.pause().write(head('GET /api/garden?limit=100 HTTP/1.1').repeat(50))
  },
  (socket) => {
    socket
      .pause()
      .write(head('GET /api/agents/me/export HTTP/1.1', `Authorization: Bearer ${token}`))
  },
]

/** Whoever was thrown out comes back. */
const BACK_AFTER_MS = 3_000

let opened = 0
let thrownOut = 0
let told = false

function tellOnce(): void {
  if (told || opened < enough.opened || thrownOut < enough.thrownOut) return
  told = true
  parentPort?.postMessage('enough')
}

function attack(n: number): void {
  const localAddress = addresses[n % addresses.length]
  const socket = connect({ host, port, ...(localAddress !== undefined && { localAddress }) })
  socket.on('connect', () => {
    opened++
    tellOnce()
    ways[n % ways.length]?.(socket)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    thrownOut++
    tellOnce()
    setTimeout(attack, BACK_AFTER_MS, n)
  })
}

for (let n = 0; n < connections; n++) setTimeout(attack, n / 4, n)
