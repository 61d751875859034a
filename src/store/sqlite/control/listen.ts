/** The process that holds a database does for the host's owner what no other process may. */
import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import type { HostStore } from '../../port/host.ts'
import { controlAddress, isFile, type Question, type Reply } from './address.ts'

export interface Control {
  /** What keeps commands on the host from being heard; empty as a rule. */
  readonly warnings: readonly string[]
  /** After what was asked is answered. */
  close(): Promise<void>
}

type Verbs = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>

/** For the whole question to arrive. */
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
  // Whoever asked is gone; what was begun is done.
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

/** Of the process that holds the lock: what lies there is left from one that was killed. */
async function begin(server: Server, address: string): Promise<void> {
  if (isFile(address)) rmSync(address, { force: true })
  server.listen(address)
  await once(server, 'listening')
  if (isFile(address)) chmodSync(address, 0o600)
}

const unheard = ({ message }: Error): string =>
  `Commands such as operator-key cannot reach the service while it runs, and must wait until it is stopped: ${message}. The path of a socket may have some hundred bytes.`

/** Without it the service is whole but for commands while it runs: a warning, and no refusal. */
export async function listenToHost(path: string, verbs: HostStore): Promise<Control> {
  const server = createServer((socket) => attend(socket, { ...verbs }))
  try {
    await begin(server, controlAddress(path))
  } catch (error) {
    return { warnings: [unheard(error as Error)], close: async () => {} }
  }
  return { warnings: [], close: () => closed(server) }
}
