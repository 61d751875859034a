/** Request body -> JSON value, bounded while it is read. */
import type { Readable } from 'node:stream'
import { type ErrorCode, problem } from '../errors.ts'
import type { Call } from './call.ts'

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
  const type = call.requestHeaders['content-type']
  const encoding = call.requestHeaders['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
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

function collect(body: Readable, capBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // What breaks while a body arrives broke on its sender's side.
    const broke = (cause?: Error) => reject(problem('body_incomplete', { cause }))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= capBytes) return void chunks.push(chunk)
      reject(tooLarge(capBytes))
      // The rest runs past, so that the sender gets to read its refusal.
      body.off('data', take).resume()
    }
    // Nothing more is heard of a body whose sender left before this.
    if (body.destroyed) return broke(body.errored ?? undefined)
    body.on('data', take)
    body.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)),
    )
    body.on('error', broke)
    body.on('close', () => {
      if (!body.readableEnded) broke()
    })
  })
}

/** Throws `body_too_large` or `body_incomplete`. */
export async function readBytes(call: Call, capBytes: number): Promise<Uint8Array> {
  // Node's parser ends a body at its Content-Length, so the declared size is the real one.
  if (Number(call.requestHeaders['content-length'] ?? 0) > capBytes) throw tooLarge(capBytes)
  return collect(call.body, capBytes)
}

/** Throws `unsupported_media_type`, `body_too_large` or `body_incomplete`. */
export async function readJsonBytes(call: Call, capBytes: number): Promise<Uint8Array> {
  requireJson(call)
  return readBytes(call, capBytes)
}
