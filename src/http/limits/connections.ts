/** Concurrent connections, limited by address. */
import type { Server } from 'node:http'
import type { BlockList, Socket } from 'node:net'
import { peerKey } from '../address.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'

export interface ConnectionBound {
  /** 0 means no limit. */
  readonly perAddress: number
  /** Peers that are trusted proxies. */
  readonly exempt: BlockList
}

/** Excess connections are closed without a response. */
export function boundConnections(server: Server, { perAddress, exempt }: ConnectionBound): void {
  const limit = createConcurrencyLimit({ perClient: perAddress })
  server.prependListener('connection', (socket: Socket) => {
    const peer = peerKey(socket.remoteAddress ?? '', exempt)
    if (peer === undefined) return
    const release = limit.take(peer)
    if (release) socket.once('close', release)
    else socket.destroy()
  })
}
