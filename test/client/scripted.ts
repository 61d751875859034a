/** What stands where a home is expected: a server that gives prepared answers, one after the other. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Prepared {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  /** A string is sent as it stands; anything else as JSON, of a problem from status 400 on. */
  readonly body?: unknown
}

export interface Scripted {
  readonly url: string
  /** The headers of what was asked so far. */
  readonly asked: IncomingHttpHeaders[]
  /** The last answer is given again when all were given. */
  readonly answer: (...answers: readonly Prepared[]) => void
  readonly close: () => Promise<void>
}

const contentType = (status: number) =>
  status < 400 ? 'application/json' : 'application/problem+json'

export async function openScripted(): Promise<Scripted> {
  let answers: readonly Prepared[] = []
  const asked: IncomingHttpHeaders[] = []
  const server = createServer((request, response) => {
    asked.push(request.headers)
    const [next, ...rest] = answers
    if (rest.length > 0) answers = rest
    const { status = 500, headers = {}, body = '' } = next ?? {}
    response.writeHead(status, { 'content-type': contentType(status), ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(...given) {
      answers = given
      asked.length = 0
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

export const problemOf = (status: number, code: string, detail = 'Nothing was done.') => ({
  type: `/problems/${code}`,
  title: 'Refused',
  status,
  detail,
  instance: 'r1',
  code,
})
