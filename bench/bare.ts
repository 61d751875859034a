/** The bar: a bare node:http server that sends a fixed body to GET and echoes every other body. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const fixed = Buffer.from(process.argv[2] ?? '')

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
  response.end(body)
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => send(response, Buffer.concat(chunks)))
}

const server = createServer((request, response) => {
  if (request.method === 'GET') send(response, fixed)
  else echo(request, response)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`)
})
