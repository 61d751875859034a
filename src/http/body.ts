/** Request body -> JSON value, bounded while it is read. */
import { type ErrorCode, Problem, problem } from '../errors.ts'
import type { Call } from './call.ts'
import { parseStrictJson } from './json.ts'

/** What a body may be refused for while it is read and validated. */
export const BODY_ERRORS: readonly ErrorCode[] = [
  'malformed_json',
  'invalid_body',
  'unsupported_media_type',
  'body_too_large',
  'body_incomplete',
]

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

function requireJson(call: Call): void {
  const type = call.request.headers.get('content-type')
  const encoding = call.request.headers.get('content-encoding')
  if (encoding !== null && encoding !== 'identity') {
    throw problem('unsupported_media_type', { detail: 'Send the body without Content-Encoding.' })
  }
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    throw problem('unsupported_media_type')
  }
}

const tooLarge = (capBytes: number) =>
  problem('body_too_large', {
    detail: `Send a body of at most ${capBytes} bytes.`,
    headers: { Connection: 'close' },
  })

/** Without a Content-Length the size shows only while reading. */
async function readChunks(stream: ReadableStream<Uint8Array>, capBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > capBytes) throw tooLarge(capBytes)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What breaks while a body arrives broke on its sender's side. */
const incomplete = (cause: unknown): never => {
  throw cause instanceof Problem ? cause : problem('body_incomplete', { cause })
}

/** Throws `body_too_large` or `body_incomplete`. */
export function readBytes(request: Request, capBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared === null) {
    if (!request.body) return Promise.resolve(new Uint8Array())
    return readChunks(request.body, capBytes).catch(incomplete)
  }
  // Node's parser ends a body at its Content-Length, so the declared size is the real one.
  if (Number(declared) > capBytes) return Promise.reject(tooLarge(capBytes))
  return request.arrayBuffer().then((buffer) => new Uint8Array(buffer), incomplete)
}

/** Throws `unsupported_media_type`, `body_too_large` or `body_incomplete`. */
export async function readJsonBytes(call: Call, capBytes: number): Promise<Uint8Array> {
  requireJson(call)
  return readBytes(call.request, capBytes)
}

/** Throws `unsupported_media_type`, `body_too_large`, `body_incomplete` or `malformed_json`. */
export async function readJson(call: Call, capBytes: number): Promise<unknown> {
  requireJson(call)
  return parseStrictJson(await readBytes(call.request, capBytes))
}
