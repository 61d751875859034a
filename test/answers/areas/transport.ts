/** Bytes that are no request, or one that no library would send. */
import { chunked, request } from '../../http/socket.ts'
import { bear } from '../agents.ts'
import type { Part, Scene } from '../scene.ts'

const ME = 'GET /api/agents/me HTTP/1.1'
const MEMORY = 'POST /api/agents/me/memory HTTP/1.1'
const GARDEN = 'POST /api/garden HTTP/1.1'
const JSON_TYPE = 'Content-Type: application/json'

const head = (...lines: string[]): string => [...lines, 'Connection: close', '', ''].join('\r\n')

const malformed: Readonly<Record<string, string | Buffer>> = {
  'random words': 'hello there\r\n\r\n',
  'a TLS greeting': Buffer.from('16030100c8010000c40303', 'hex'),
  'an HTTP/2 preface': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown version': 'GET / HTTP/9.9\r\nHost: a\r\n\r\n',
  'an unknown method': request('STEAL /api/agents/me HTTP/1.1'),
  'a method in lower case': request('get /api/agents/me HTTP/1.1'),
  'a space in the address': request('GET /api/agents/me now HTTP/1.1'),
  'a header without a colon': request(ME, ['Authorization']),
  'a space before the colon': request(ME, ['Authorization : Bearer a']),
  'a control character in a header': request(ME, ['X-A: a\u0001b']),
  'a folded header': request(ME, ['X-A: a\r\n b']),
  'two lengths': request(MEMORY, ['Content-Length: 2', 'Content-Length: 3']),
  'a negative length': request(MEMORY, ['Content-Length: -1']),
  'a length and chunks': request(
    MEMORY,
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    '0\r\n\r\n',
  ),
  'an unknown transfer coding': request(MEMORY, ['Transfer-Encoding: gzip']),
  'headers that are too large': request(ME, [`X-A: ${'a'.repeat(17_000)}`]),
  'an address that is too large': request(`GET /${'a'.repeat(17_000)} HTTP/1.1`),
  CONNECT: request('CONNECT localhost:443 HTTP/1.1'),
  'an upgrade': request(ME, ['Upgrade: websocket', 'Connection: Upgrade, close']),
}

const hosts: Readonly<Record<string, string | Buffer>> = {
  'no Host': head(ME),
  'an empty Host': head(ME, 'Host:'),
  'a Host that is no host': head(ME, 'Host: a b/c'),
  'a Host with a port past counting': head(ME, 'Host: a:99999'),
  'two Hosts': head(ME, 'Host: a', 'Host: b'),
  'a Host with an address in it': head(ME, 'Host: a@b'),
  'a Host in capitals': head('GET / HTTP/1.1', 'Host: HOME.test:80'),
  'a Host of the old web': head('GET /healthz HTTP/1.0'),
  'a whole address': head('GET http://other.test/healthz HTTP/1.1', 'Host: localhost'),
  'a whole address with a user': head(
    'GET http://a@other.test/healthz HTTP/1.1',
    'Host: localhost',
  ),
  'an address of another kind': head('GET ftp://other.test/healthz HTTP/1.1', 'Host: localhost'),
  'an asterisk': head('OPTIONS * HTTP/1.1', 'Host: localhost'),
  'dots that lead up': head('GET /a/../healthz HTTP/1.1', 'Host: localhost'),
  'a backslash': head('GET /a\\b HTTP/1.1', 'Host: localhost'),
  'a fragment': head('GET /healthz#a HTTP/1.1', 'Host: localhost'),
  'an address that is not encoded': Buffer.from(head('GET /їжак HTTP/1.1', 'Host: localhost')),
  'a percent sign alone': head('GET /healthz% HTTP/1.1', 'Host: localhost'),
}

const unusual: Readonly<Record<string, string | Buffer>> = {
  'an expectation that nobody knows': request(ME, ['Expect: 200-ok']),
  'an expectation that is met': request(
    GARDEN,
    [JSON_TYPE, 'Content-Length: 2', 'Expect: 200-ok'],
    '{}',
  ),
  'duplicate Authorization': request(ME, ['Authorization: Bearer a', 'Authorization: Bearer a']),
  'duplicate Authorization, once in small letters': request(ME, [
    'Authorization: a',
    'authorization: b',
  ]),
  'duplicate Content-Type': request(MEMORY, [JSON_TYPE, JSON_TYPE, 'Content-Length: 2'], '{}'),
  'duplicate Idempotency-Key': request('POST /api/agents/birth HTTP/1.1', [
    'Idempotency-Key: a',
    'Idempotency-Key: b',
  ]),
  'duplicate Accept': request('GET / HTTP/1.1', [
    'Accept: text/html;q=0.1',
    'Accept: application/json',
  ]),
  'a body of GET': request('GET /healthz HTTP/1.1', ['Content-Length: 2'], '{}'),
  TRACE: request('TRACE /healthz HTTP/1.1'),
  'a method of WebDAV': request('PROPFIND / HTTP/1.1'),
}

const inBytes =
  (all: Readonly<Record<string, string | Buffer>>): Part =>
  async (visit) => {
    for (const [title, bytes] of Object.entries(all)) await visit.askBytes(title, bytes)
  }

const bodies: Part = async (visit) => {
  const by = async () => [`Authorization: Bearer ${(await bear(visit)).token}`, JSON_TYPE]
  // What is cut off may still cost its agent a write when the next request is answered.
  const [as, cutOff] = [await by(), await by()]
  const body = Buffer.from('{"key":"k","text":"in pieces","expectedVersion":0}')
  const lengthOf = (length: number) => `Content-Length: ${length}`
  await visit.askBytes(
    'a body in chunks',
    request(MEMORY, [...as, 'Transfer-Encoding: chunked'], chunked(body, 7)),
  )
  await visit.askBytes(
    'a body that is cut short',
    request(MEMORY, [...cutOff, lengthOf(200)], body),
    true,
  )
  await visit.askBytes(
    'chunks that are cut short',
    request(MEMORY, [...cutOff, 'Transfer-Encoding: chunked'], '5\r\n{"a'),
    true,
  )
  await visit.askBytes(
    'a chunk without a size',
    request(MEMORY, [...cutOff, 'Transfer-Encoding: chunked'], 'x\r\n{}\r\n'),
  )
  const large = chunked(Buffer.alloc(140_000, 'x'), 20_000)
  await visit.askBytes(
    'chunks that are too large',
    request(MEMORY, [...as, 'Transfer-Encoding: chunked'], large),
  )
  await visit.askBytes('a length that is too large', request(MEMORY, [...as, lengthOf(131_073)]))
  await visit.askBytes(
    'an expectation that is met before the body',
    request(MEMORY, [...as, lengthOf(body.length), 'Expect: 100-continue'], body),
  )
}

export const transport: Scene = {
  isProgram: true,
  parts: {
    'what is no request': inBytes(malformed),
    'hosts and addresses': inBytes(hosts),
    'what is unusual': inBytes(unusual),
    bodies,
  },
}
