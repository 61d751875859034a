/** Somebody who asks as fast as the sockets take it, from a thread of their own. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Server } from '../process/program.ts'

export interface Flooding {
  readonly host: string
  readonly port: number
  readonly connections: number
  /** Requests written at once; as many more follow when they were answered. */
  readonly pipelined: number
  /** Whole requests, sent in turn. */
  readonly requests: readonly string[]
  /** Answers, and times that somebody is thrown out, until there are enough. */
  readonly enough: number
}

export interface Flood {
  readonly enough: Promise<unknown>
  /** Ends it once there are enough, and gives how many answers came. */
  readonly stop: () => Promise<number>
}

export const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: home.test\r\n\r\n`

export function flood({ url }: Server, flooding: Omit<Flooding, 'host' | 'port'>): Flood {
  const { hostname: host, port } = new URL(url)
  const workerData: Flooding = { host, port: Number(port), ...flooding }
  const thread = new Worker(new URL('./flood-thread.ts', import.meta.url), { workerData })
  const enough = once(thread, 'message')
  return {
    enough,
    async stop() {
      await enough
      thread.postMessage('stop')
      const [[answers]] = await Promise.all([once(thread, 'message'), once(thread, 'exit')])
      return Number(answers)
    },
  }
}
