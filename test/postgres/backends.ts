/** A server's connections to one database, each lent for one transaction, in turn. */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { messages } from './messages.ts'

/** Few, so that transactions wait for each other. */
const CONNECTIONS = 5

/** Whose transaction runs on a connection. */
export interface Borrower {
  readonly socket: Socket
  /** Its transaction is over: the next may run elsewhere. */
  readonly over: () => void
}

export interface Backend {
  readonly stream: Duplex
  borrower: Borrower | undefined
}

export interface Backends {
  lend(): Promise<Backend>
  close(): void
}

/** The driver signs in; from then on the messages are ours. */
async function signIn(url: string): Promise<Duplex> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const { stream } = (client as pg.Client & { readonly connection: pg.Connection }).connection
  return stream.removeAllListeners('data')
}

export function backendsOf(url: string): Backends {
  const all = new Set<Backend>()
  const idle: Backend[] = []
  const waiting: ((backend: Promise<Backend> | Backend) => void)[] = []
  let opened = 0

  function giveBack(backend: Backend): void {
    backend.borrower = undefined
    const next = waiting.shift()
    if (next) next(backend)
    else idle.push(backend)
  }

  function answered(backend: Backend, type: string, whole: Buffer): void {
    const { borrower } = backend
    borrower?.socket.write(whole)
    if (type !== 'Z' || whole.toString('latin1', 5) !== 'I') return
    borrower?.over()
    giveBack(backend)
  }

  function lose(backend: Backend): void {
    opened--
    all.delete(backend)
    const place = idle.indexOf(backend)
    if (place >= 0) idle.splice(place, 1)
    backend.borrower?.socket.destroy()
    waiting.shift()?.(lend())
  }

  async function open(): Promise<Backend> {
    opened++
    const stream = await signIn(url).catch((error: unknown) => {
      opened--
      throw error
    })
    const backend: Backend = { stream, borrower: undefined }
    all.add(backend)
    stream.on(
      'data',
      messages((type, whole) => answered(backend, type, whole)),
    )
    stream.on('close', () => lose(backend))
    return backend
  }

  const lend = async (): Promise<Backend> => {
    if (opened < CONNECTIONS) return open()
    return idle.shift() ?? new Promise((resolve) => waiting.push(resolve))
  }

  return {
    lend,
    close: () => {
      for (const { stream } of all) stream.destroy()
    },
  }
}
