/** Pipelined requests of a client, handled one after the other. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { inNextTurn } from '../turns.ts'

/** A client that pipelines more is disconnected. */
const MOST_AHEAD = 64

interface Turns {
  busy: boolean
  readonly ahead: Parameters<Respond>[]
}

type Respond = (message: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/**
 * Handles one request of a connection at a time, and those of other connections in between. Node
 * reads 64 KiB at once, which can contain a thousand small requests; starting all of them would
 * block the others. `respond` never rejects.
 */
export function oneAtATime(respond: Respond) {
  // Read for each request, written once per connection.
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
    // Stays busy until the next one starts, so that requests arriving meanwhile do not start first.
    turns.busy = next !== undefined
    if (!next) return
    inNextTurn(() => {
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
