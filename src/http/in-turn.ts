/** Requests that a client sends before it has its answers, taken up one after the other. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Whoever sends so many ahead of its answers is thrown out. */
const MOST_AHEAD = 64

type Respond = (message: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/**
 * One request of each connection at a time, and other connections' between two of them. Node reads
 * 64 KiB at once, which hold a thousand small requests: begun together they keep everybody waiting.
 * `respond` never rejects.
 */
export function inTurn(respond: Respond) {
  const ahead = new WeakMap<Socket, Parameters<Respond>[]>()

  async function work(socket: Socket, ...first: Parameters<Respond>): Promise<void> {
    await respond(...first)
    const next = ahead.get(socket)?.shift()
    if (next && !socket.destroyed) setImmediate(() => void work(socket, ...next))
    else ahead.delete(socket)
  }

  return (message: IncomingMessage, outgoing: ServerResponse): void => {
    const { socket } = message
    const waiting = ahead.get(socket)
    if (!waiting) {
      ahead.set(socket, [])
      void work(socket, message, outgoing)
    } else if (waiting.length < MOST_AHEAD) waiting.push([message, outgoing])
    else socket.destroy()
  }
}
