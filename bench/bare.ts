/**
 * The bar: a bare node:http server that sends one answer to every GET, byte for byte the same
 * status, headers and body as ours, and echoes every other body.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Fixed } from './fixed.ts'

const { headers, body } = JSON.parse(process.argv[2] ?? '') as Fixed
const fixed = Buffer.from(body)

function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const sent = Buffer.concat(chunks)
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': sent.length })
    response.end(sent)
  })
}

const server = createServer((request, response) => {
  if (request.method === 'GET') response.writeHead(200, headers).end(fixed)
  else echo(request, response)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})
