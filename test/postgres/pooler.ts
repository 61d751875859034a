/**
 * A transaction pooler for tests: it hands each transaction to another of the server's connections,
 * refuses what it does not know of a start, and knows nothing of prepared statements. Whatever one
 * client told a connection is missing, or in the way, when the next one uses it.
 */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Backend, type Backends, type Borrower, backendsOf } from './backends.ts'
import { at } from './databases.ts'
import { fatal, message, messages, startUpOf } from './messages.ts'

export interface Pooler {
  readonly name: string
  /** As the server's, through the pooler. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** What PgBouncer keeps account of. */
const KNOWN = new Set(['user', 'database', 'client_encoding', 'application_name'])

/** Whoever it is: the server's connections are the pooler's own, and so is the process's number. */
const welcome = (): Buffer =>
  Buffer.concat([
    message('R', 0),
    message('S', 'client_encoding\0', 'UTF8\0'),
    message('K', randomInt(2 ** 31), randomInt(2 ** 31)),
    message('Z', 'I'),
  ])

/** Passes a client's messages to a connection that is lent to it until its transaction ends. */
function passOn(socket: Socket, { lend }: Backends): (type: string, whole: Buffer) => void {
  let lent: Promise<Backend> | undefined
  const over = () => {
    lent = undefined
  }
  const borrower: Borrower = { socket, over }

  async function borrow(): Promise<Backend> {
    const backend = await lend()
    backend.borrower = borrower
    return backend
  }

  async function pass(whole: Buffer): Promise<void> {
    lent ??= borrow()
    const { stream } = await lent
    stream.write(whole)
  }

  async function abandon(): Promise<void> {
    const backend = await lent
    // Its transaction is not over: only the end of the session undoes it.
    backend?.stream.destroy()
  }

  socket.on('close', () => abandon().catch(() => {}))
  return (type, whole) => {
    if (type === 'X') socket.end()
    else pass(whole).catch(() => socket.destroy())
  }
}

function greet(socket: Socket, packet: Buffer, backendsIn: (database: string) => Backends): void {
  const startUp = startUpOf(packet)
  if (startUp === 'ssl') {
    socket.write('N')
    socket.once('data', (next: Buffer) => greet(socket, next, backendsIn))
    return
  }
  const unknown = [...startUp.keys()].find((name) => !KNOWN.has(name))
  if (unknown) {
    socket.end(fatal(`unsupported startup parameter: ${unknown}`))
    return
  }
  socket.on('data', messages(passOn(socket, backendsIn(startUp.get('database') ?? ''))))
  socket.write(welcome())
}

/** `port`: where another was before; any otherwise. */
export async function startPooler(serverUrl: string, port = 0): Promise<Pooler> {
  const databases = new Map<string, Backends>()
  const clients = new Set<Socket>()
  const backendsIn = (database: string): Backends => {
    const known = databases.get(database) ?? backendsOf(at(serverUrl, database))
    databases.set(database, known)
    return known
  }
  const server = createServer({ noDelay: true }, (socket) => {
    clients.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => clients.delete(socket))
    socket.once('data', (packet: Buffer) => greet(socket, packet, backendsIn))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(serverUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    name: 'a pooler',
    url: url.href,
    async close() {
      for (const client of clients) client.destroy()
      for (const backends of databases.values()) backends.close()
      server.close()
    },
  }
}
