/** A client for thousands of requests: `fetch` takes three times as much of the processor. */
import { type IncomingHttpHeaders, request } from 'node:http'

export interface Asking {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Told {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** The whole answer; rejects when the connection breaks before its end. */
export function ask(url: string, { body, ...options }: Asking = {}): Promise<Told> {
  const { promise, resolve, reject } = Promise.withResolvers<Told>()
  const sending = request(url, options, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    response.on('error', reject)
    const { statusCode = 0, headers } = response
    response.on('end', () => resolve({ status: statusCode, headers, text }))
  })
  sending.on('error', reject)
  sending.end(body)
  return promise
}
