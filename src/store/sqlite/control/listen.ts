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
const PATIENCE_MS = 2_000

const LONGEST = 4_096

const newer = (verb: string): string =>
  `The service that runs does not know ${verb}: it is of another version than this command.`

async function replyTo(question: string, verbs: Verbs): Promise<Reply> {
  try {
    const { verb, args } = JSON.parse(question) as Question
    const ask = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
    return ask ? { value: await ask(...(args as never[])) } : { refused: newer(verb) }
  } catch (error) {
    return { failed: (error as Error).message }
  }
}

function attend(socket: Socket, verbs: Verbs): void {
  let question = ''
  socket.setTimeout(PATIENCE_MS, () => socket.destroy())
  // The command has disconnected; what was started is finished.
  socket.on('error', () => {})
  function listen(piece: string): void {
    question += piece
    if (question.length > LONGEST) socket.destroy()
    if (!question.endsWith('\n')) return
    socket.off('data', listen).setTimeout(0)
    const say = (reply: Reply) => socket.end(JSON.stringify(reply), () => socket.destroy())
    replyTo(question, verbs).then(say, () => socket.destroy())
  }
  socket.setEncoding('utf8').on('data', listen)
}

async function closed(server: Server): Promise<void> {
  server.close()
  await once(server, 'close')
}

/**
 * Only called by the process that holds the lock, so an existing socket is left from a killed one.
 */
async function begin(server: Server, address: string): Promise<void> {
  if (isFile(address)) rmSync(address, { force: true })
  server.listen(address)
  await once(server, 'listening')
  if (isFile(address)) chmodSync(address, 0o600)
}

const unheard = ({ message }: Error): string =>
  `Commands such as operator-key cannot reach the service while it runs, and must wait until it is stopped: ${message}. The path of a socket may have some hundred bytes.`

/**
 * Without the socket the service works, except for commands while it runs: a warning, not an error.
 */
export async function listenToHost(path: string, verbs: HostStore): Promise<Control> {
  const server = createServer((socket) => attend(socket, { ...verbs }))
  try {
    await begin(server, controlAddress(path))
  } catch (error) {
    return { warnings: [unheard(error as Error)], close: async () => {} }
  }
  return { warnings: [], close: () => closed(server) }
}
