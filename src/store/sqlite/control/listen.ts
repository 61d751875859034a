/** Answers commands on the host in the process that holds the database. */
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { HostStore } from '../../port/host.ts'
import { controlAddress, isFile, type Question, type Reply } from './address.ts'

export interface Control {
  /** Warnings if commands cannot be received; usually empty. */
  readonly warnings: readonly string[]
  /** Resolves when running commands have been answered. */
  close(): Promise<void>
}

type Verbs = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** For the complete request to arrive. */
const TIMEOUT_MS = 2_000

const MOST_CHARS = 4_096

const unknownVerb = (verb: string): string =>
  `The service that runs does not know ${verb}: it is of another version than this command.`

async function replyTo(question: string, verbs: Verbs): Promise<Reply> {
  try {
    const { verb, args } = JSON.parse(question) as Question
    const ask = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    return ask ? { value: await ask(...(args as never[])) } : { refused: unknownVerb(verb) }
  } catch (error) {
    return { failed: (error as Error).message }
  }
}

function answer(socket: Socket, verbs: Verbs): void {
  let question = ''
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy())
  // The command has disconnected; what was started is finished.
  socket.on('error', () => {})
  function read(piece: string): void {
    question += piece
    if (question.length > MOST_CHARS) socket.destroy()
    if (!question.endsWith('\n')) return
    socket.off('data', read).setTimeout(0)
    const send = (reply: Reply) => socket.end(JSON.stringify(reply), () => socket.destroy())
    replyTo(question, verbs).then(send, () => socket.destroy())
  }
  socket.setEncoding('utf8').on('data', read)
}

async function closed(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

/**
 * Only called by the process that holds the lock, so an existing socket is left from a killed one.
 */
async function listen(server: Server, address: string): Promise<void> {
  if (isFile(address)) rmSync(address, { force: true })
  server.listen(address)
  await once(server, 'listening')
  if (isFile(address)) chmodSync(address, 0o600)
}

const unreachable = ({ message }: Error): string =>
  `Commands such as operator-key cannot reach the service while it runs, and must wait until it is stopped: ${message}. The path of a socket may have some hundred bytes.`

/**
 * Without the socket the service works, except for commands while it runs: a warning, not an error.
 */
export async function listenToHost(path: string, verbs: HostStore): Promise<Control> {
  const server = createServer((socket) => answer(socket, { ...verbs }))
  try {
    await listen(server, controlAddress(path))
  } catch (error) {
    return { warnings: [unreachable(error as Error)], close: async () => {} }
  }
  return { warnings: [], close: () => closed(server) }
}
