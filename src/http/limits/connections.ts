/** Connections at once, bounded for each address. */
import type { Server } from 'node:http'
import type { BlockList, Socket } from 'node:net'
import { peerKey } from '../address.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'

export interface ConnectionBound {
  /** 0 is without bound. */
  readonly perAddress: number
  /** Peers that speak for many, such as proxies. */
  readonly exempt: BlockList
}

/** One too many is closed without a word: whoever opens so many listens to none. */
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
