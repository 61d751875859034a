/** Thousands of connections from a few addresses, each of them bad in its own way. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Server } from '../process/program.ts'

export interface Siege {
  readonly host: string
  readonly port: number
  readonly addresses: readonly string[]
  readonly connections: number
  /** Of an agent of theirs. */
  readonly token: string
  readonly enough: Besieged
}

/** How many connections, those that were opened anew included. */
export interface Besieged {
  readonly opened: number
  readonly thrownOut: number
}

export function besiege(
  { url }: Server,
  siege: Omit<Siege, 'host' | 'port'>,
): { readonly enough: Promise<unknown>; readonly stop: () => Promise<unknown> } {
  const { hostname: host, port } = new URL(url)
  const workerData: Siege = { host, port: Number(port), ...siege }
  const thread = new Worker(new URL('./besiege-thread.ts', import.meta.url), { workerData })
  return {
    enough: once(thread, 'message'),
    stop: () => thread.terminate(),
  }
}
