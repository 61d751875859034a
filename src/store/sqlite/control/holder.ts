/** Sends a command to the process that holds the database. */
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { OutcomeUnknown, StoreRefused } from '../../port/errors.ts'
import type { Host, HostStore } from '../../port/host.ts'
import { controlAddress, type Reply } from './address.ts'

/** Longer than a write may wait for its commit. */
const TIMEOUT_MS = 10_000

/** Undefined if nothing listens: there is no socket, or it is left from a killed process. */
const connected = (address: string): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(undefined))
  })

async function replyFrom(socket: Socket): Promise<Reply> {
  try {
    return JSON.parse(await text(socket)) as Reply
  } catch (cause) {
    throw new OutcomeUnknown('the service that holds the database does not answer', { cause })
  }
}

async function ask(socket: Socket, verb: keyof HostStore, args: unknown[]): Promise<unknown> {
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('it took too long')))
  socket.write(`${JSON.stringify({ verb, args })}\n`)
  const reply = await replyFrom(socket)
  if ('refused' in reply) throw new StoreRefused(reply.refused)
  if ('failed' in reply) throw new OutcomeUnknown(reply.failed)
  return reply.value
}

/** Undefined if nothing answers. One request per connection. */
export async function reachHolder(path: string): Promise<Host | undefined> {
  const socket = await connected(controlAddress(path))
  if (!socket) return undefined
  const asking =
    <Verb extends keyof HostStore>(verb: Verb) =>
    (...args: Parameters<HostStore[Verb]>) =>
      ask(socket, verb, args) as ReturnType<HostStore[Verb]>
  return {
    location: path,
    resetOperatorToken: asking('resetOperatorToken'),
    recoverAccount: asking('recoverAccount'),
    setAdmin: asking('setAdmin'),
    listEntries: asking('listEntries'),
    removeEntry: asking('removeEntry'),
    async close() {
      socket.destroy()
    },
  }
}
