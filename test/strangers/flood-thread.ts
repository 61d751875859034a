/** The thread of a flood: it asks as fast as its sockets take it, until it is told to stop. */
import { connect } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { Flooding } from './flood.ts'

const { port, host, connections, pipelined, requests, enough } = workerData as Flooding

let answers = 0
let asked = 0
let met = 0

function meet(count: number): void {
  if (met < enough && met + count >= enough) parentPort?.postMessage('enough')
  met += count
}

const next = (): string => requests[asked++ % requests.length] ?? ''

function flood(): void {
  const socket = connect({ port, host })
  let owed = 0
  const ask = () => {
    owed += pipelined
    socket.write(Array.from({ length: pipelined }, next).join(''))
  }
  socket.setEncoding('latin1').on('data', (text: string) => {
    const came = text.split('HTTP/1.1 ').length - 1
    answers += came
    meet(came)
    owed -= came
    if (owed <= 0) ask()
  })
  socket.on('connect', ask)
  socket.on('error', () => {})
  // Whoever is thrown out comes back.
  socket.on('close', () => {
    meet(1)
    setTimeout(flood, 10)
  })
}

for (let n = 0; n < connections; n++) flood()

parentPort?.once('message', () => {
  parentPort?.postMessage(answers)
  process.exit()
})
