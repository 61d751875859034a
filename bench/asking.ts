/** One request in flight on each of some connections: how many a second, at what cost. */
import type { ChildProcess } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { frameHttp, statusOf } from './load/http.ts'
import { median } from './load/sample.ts'
import { cpuSeconds } from './process.ts'

/** The request of a connection's turn, for its own key at the version that it holds. */
export type Ask = (key: string, version: number) => string

export interface Connection {
  readonly socket: Socket
  readonly key: string
  version: number
}

function answered({ socket }: Connection, request: string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  let received: Buffer = Buffer.alloc(0)
  const take = (chunk: Buffer) => {
    received = received.length > 0 ? Buffer.concat([received, chunk]) : chunk
    if (frameHttp(received) < 0) return
    socket.off('data', take)
    resolve(received)
  }
  socket.on('data', take)
  socket.write(request)
  return promise
}

async function turn(connection: Connection, ask: Ask, writes: number): Promise<void> {
  const answer = await answered(connection, ask(connection.key, connection.version))
  if (statusOf(answer) !== 200 || answer.includes('"isError":true')) {
    throw new Error(answer.toString())
  }
  connection.version += writes
}

export interface Rate {
  readonly perSecond: number
  /** Of the server's processor, for one request: what a busy machine changes least. */
  readonly cpuMicros: number
}

/** `writes`: by how many versions each request takes the connection's key on. */
export async function rate(
  connections: readonly Connection[],
  ask: Ask,
  writes: number,
  ms: number,
  { pid }: ChildProcess,
): Promise<Rate> {
  const cpu = () => cpuSeconds(pid) ?? 0
  let count = 0
  const before = cpu()
  const until = performance.now() + ms
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < until) {
        await turn(connection, ask, writes)
        count++
      }
    }),
  )
  const cpuMicros = ((cpu() - before) * 1_000_000) / count
  return { perSecond: (count * 1_000) / ms, cpuMicros }
}

/** One for each version that its key is at. */
export const connectAll = (url: URL, versions: readonly number[]): readonly Connection[] =>
  versions.map((version, n) => ({
    socket: connect(Number(url.port), url.hostname).setNoDelay(),
    key: `k${n}`,
    version,
  }))

/** Of several rounds, by what was measured. */
export function gatherRates() {
  const rates = new Map<string, Rate[]>()
  return {
    add(name: string, rated: Rate): void {
      rates.set(name, [...(rates.get(name) ?? []), rated])
    },
    middle(name: string): Rate {
      const all = rates.get(name) ?? []
      return {
        perSecond: median(all.map(({ perSecond }) => perSecond)),
        cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
      }
    },
  }
}
