/** A way to a server on which answers get lost: what was asked was done, and nobody hears of it. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface LossyWay {
  readonly url: string
  /** The next answers are cut off at their first byte, `meanwhile` having been done. */
  readonly loseAnswers: (count: number, meanwhile?: () => Promise<unknown>) => void
  /** The next requests never arrive, `meanwhile` having been done. */
  readonly loseRequests: (count: number, meanwhile?: () => Promise<unknown>) => void
  /** The next answers break off after so many bytes. */
  readonly cutAfter: (bytes: number) => void
  /** Resolves when an answer with this text has gone through. */
  readonly passed: (text: string) => Promise<void>
  /** Breaks every connection that is open. */
  readonly breakAll: () => void
  readonly close: () => Promise<void>
}

const nothing = async (): Promise<unknown> => undefined

/** `at`: a port of its own; any free one unless told. */
export async function openLossyWay(port: number, at = 0): Promise<LossyWay> {
  const open = new Set<Socket>()
  let answersToLose = 0
  let requestsToLose = 0
  let meanwhile = nothing
  const waiting: { readonly text: string; readonly resolve: () => void }[] = []
  let bytesLeft = Number.POSITIVE_INFINITY

  const server = createServer((client) => {
    const home = connect(port, '127.0.0.1')
    open.add(client)
    const end = () => {
      open.delete(client)
      client.destroy()
      home.destroy()
    }
    client.on('data', (piece) => {
      if (requestsToLose === 0) return home.write(piece)
      requestsToLose--
      client.pause()
      return meanwhile().finally(end)
    })
    home.on('data', (piece: Buffer) => {
      if (answersToLose > 0) {
        answersToLose--
        home.pause()
        void meanwhile().finally(end)
        return
      }
      client.write(piece.subarray(0, bytesLeft), () => {
        for (const wait of waiting) if (piece.includes(wait.text)) wait.resolve()
      })
      bytesLeft -= piece.length
      if (bytesLeft <= 0) {
        bytesLeft = Number.POSITIVE_INFINITY
        client.end()
        home.destroy()
      }
    })
    for (const socket of [client, home]) socket.on('error', end).on('close', end)
  })
  server.listen(at, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseAnswers(count, doing = nothing) {
      answersToLose = count
      meanwhile = doing
    },
    loseRequests(count, doing = nothing) {
      requestsToLose = count
      meanwhile = doing
    },
    cutAfter(bytes) {
      bytesLeft = bytes
    },
    passed: (text) => new Promise((resolve) => waiting.push({ text, resolve })),
    breakAll() {
      for (const socket of open) socket.destroy()
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
