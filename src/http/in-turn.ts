/** Requests that a client sends before it has its answers, taken up one after the other. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Whoever sends so many ahead of its answers is thrown out. */
const MOST_AHEAD = 64

interface Turns {
  busy: boolean
  readonly ahead: Parameters<Respond>[]
}

type Respond = (message: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/**
 * One request of each connection at a time, and other connections' between two of them. Node reads
 * 64 KiB at once, which hold a thousand small requests: begun together they keep everybody waiting.
 * `respond` never rejects.
 */
export function inTurn(respond: Respond) {
  // Looked up for each request, written once for each connection.
  const connections = new WeakMap<Socket, Turns>()

  function turnsOf(socket: Socket): Turns {
    const known = connections.get(socket)
    if (known) return known
    const turns = { busy: false, ahead: [] }
    connections.set(socket, turns)
    return turns
  }

  async function work(turns: Turns, message: IncomingMessage, outgoing: ServerResponse) {
    turns.busy = true
    await respond(message, outgoing)
    const next = turns.ahead.shift()
    // Still busy until the next is taken up, or what comes meanwhile would be taken up before it.
    turns.busy = next !== undefined
    if (!next) return
    setImmediate(() => {
      if (!message.socket.destroyed) void work(turns, ...next)
    })
  }

  return (message: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = message
    const turns = turnsOf(socket)
    if (!turns.busy) void work(turns, message, outgoing)
    else if (turns.ahead.length < MOST_AHEAD) turns.ahead.push([message, outgoing])
    else socket.destroy()
  }
}
