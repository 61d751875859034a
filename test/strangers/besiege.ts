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
}

interface Besieged {
  readonly opened: number
  readonly thrownOut: number
}

export function besiege(
  { url }: Server,
  siege: Pick<Siege, 'addresses' | 'connections' | 'token'>,
): { readonly stop: () => Promise<Besieged> } {
  const { hostname: host, port } = new URL(url)
  const workerData: Siege = { host, port: Number(port), ...siege }
  const thread = new Worker(new URL('./besiege-thread.ts', import.meta.url), { workerData })
  return {
    async stop() {
      thread.postMessage('stop')
      const [[told]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')])
      return told as Besieged
    },
  }
}
