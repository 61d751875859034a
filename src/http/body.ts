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

async function readWhole(request: Request, capBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null) {
    // Node's parser ends a body at its Content-Length, so the declared size is the real one.
    if (Number(declared) > capBytes) throw tooLarge(capBytes)
    return new Uint8Array(await request.arrayBuffer())
  }
  return request.body ? readChunks(request.body, capBytes) : new Uint8Array()
}

/**
 * Throws `body_too_large` or `body_incomplete`: what breaks while a body arrives broke on its
 * sender's side.
 */
export async function readBytes(request: Request, capBytes: number): Promise<Uint8Array> {
  try {
    return await readWhole(request, capBytes)
  } catch (cause) {
    throw cause instanceof Problem ? cause : problem('body_incomplete', { cause })
  }
}

/** Throws `unsupported_media_type`, `body_too_large` or `body_incomplete`. */
export async function readJsonBytes(call: Call, capBytes: number): Promise<Uint8Array> {
  requireJson(call)
  return readBytes(call.request, capBytes)
}

/** Throws `unsupported_media_type`, `body_too_large`, `body_incomplete` or `malformed_json`. */
export const readJson = async (call: Call, capBytes: number): Promise<unknown> =>
  parseStrictJson(await readJsonBytes(call, capBytes))
