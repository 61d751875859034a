/** Reads a request body as JSON, with limits. */
import type { Readable } from 'node:stream'
import { type ErrorCode, problem } from '../errors.ts'
import type { Call } from './call.ts'
import { beginsText } from './json.ts'

/** Error codes by status. */
const CODES = {
  otherType: { 400: 'wrong_media_type', 415: 'unsupported_media_type' },
  tooLarge: { 400: 'oversized_body', 413: 'body_too_large' },
} as const satisfies Record<string, Readonly<Record<number, ErrorCode>>>

/** The interface fixes the statuses of its operations, so other statuses are not allowed there. */
export interface BodyStatuses {
  readonly otherType: keyof typeof CODES.otherType
  readonly tooLarge: keyof typeof CODES.tooLarge
}

/** The statuses of operations beyond the interface. */
const OURS: BodyStatuses = { otherType: 415, tooLarge: 413 }

/** Errors of reading and validating a body. */
export const bodyErrors = ({ otherType, tooLarge } = OURS): readonly ErrorCode[] => [
  'malformed_json',
  'invalid_body',
  CODES.otherType[otherType],
  CODES.tooLarge[tooLarge],
  'body_incomplete',
]

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

function requireJson(call: Call, code: ErrorCode): void {
  const type = call.requestHeaders['content-type']
  const encoding = call.requestHeaders['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') {
    throw problem(code, { detail: 'Send the body without Content-Encoding.' })
  }
  if (type !== 'application/json' && !JSON_TYPE.test(type ?? '')) {
    throw problem(code)
  }
}

const tooLarge = (capBytes: number, code: ErrorCode) =>
  problem(code, {
    detail: `Send a body of at most ${capBytes} bytes.`,
    headers: { Connection: 'close' },
  })

function collect(body: Readable, capBytes: number, code: ErrorCode): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // If a body breaks off, its sender caused it.
    const broke = (cause?: Error) => reject(problem('body_incomplete', { cause }))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= capBytes) return void chunks.push(chunk)
      reject(tooLarge(capBytes, code))
      // The rest is discarded, so that the client reads the error.
      body.off('data', take).resume()
    }
    // A client that left before this sends no further event.
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

/**
 * Reads what has already arrived, which is usually all of it; events per chunk cost more. Without
 * the size, `read` returns the first chunk only.
 */
const arrived = (body: Readable, declared: number): Uint8Array | undefined =>
  declared > 0 && body.readableLength === declared && !body.destroyed
    ? body.read(declared)
    : undefined

/** Throws `body_incomplete`, and the code for a body that is too large. */
export async function readBytes(
  call: Call,
  capBytes: number,
  code: ErrorCode = 'body_too_large',
): Promise<Uint8Array> {
  // Node's parser ends a body at its Content-Length, so the declared size is the real one.
  const declared = Number(call.requestHeaders['content-length'] ?? 0)
  if (declared > capBytes) throw tooLarge(capBytes, code)
  // Node parses what came with the headers only after the request event.
  await undefined
  return arrived(call.body, declared) ?? collect(call.body, capBytes, code)
}

/** Throws `body_incomplete`, and the errors of the statuses. */
export async function readJsonBytes(
  call: Call,
  capBytes: number,
  { otherType, tooLarge } = OURS,
): Promise<Uint8Array> {
  requireJson(call, CODES.otherType[otherType])
  return readBytes(call, capBytes, CODES.tooLarge[tooLarge])
}

/** If the caller stops early, the rest is discarded, so that the client reads the error. */
async function* arriving({ body, slowBody }: Call): AsyncGenerator<Uint8Array> {
  if (body.destroyed) throw problem('body_incomplete', { cause: body.errored ?? undefined })
  try {
    yield* slowBody?.() ?? body.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw problem('body_incomplete', { cause })
  } finally {
    body.resume()
  }
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

/** How many bytes are valid UTF-8, if not all are. */
function lengthOfText(bytes: Uint8Array): number {
  let [least, most] = [0, bytes.length]
  while (most - least > 1) {
    const middle = (least + most) >>> 1
    if (beginsText(bytes.subarray(0, middle))) least = middle
    else most = middle
  }
  return least
}

/** Bytes of the longest character, minus one. */
const MOST_BEFORE = 3

const notText = (message: string, advice: string) =>
  problem('malformed_json', {
    detail: `The body ${message}. ${advice}`,
    errors: [{ pointer: '', message }],
  })

/** Decodes chunks, and finds the byte at which they stop being UTF-8. */
function createDecoder() {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let size = 0
  let before: Uint8Array = new Uint8Array()

  /** A chunk may end in the middle of a character. */
  function faultIn(bytes: Uint8Array): number {
    let from = 0
    while (isContinuation(before[from])) from++
    const begun = before.subarray(from)
    return size - begun.length + lengthOfText(Buffer.concat([begun, bytes]))
  }

  return {
    decode(bytes: Uint8Array): string {
      try {
        const text = decoder.decode(bytes, { stream: true })
        size += bytes.length
        before = Buffer.concat([before, bytes.subarray(-MOST_BEFORE)]).subarray(-MOST_BEFORE)
        return text
      } catch {
        const message = `is not valid UTF-8 at byte ${faultIn(bytes)}`
        throw notText(message, 'Encode it as UTF-8 and send it again.')
      }
    },
    end(): void {
      try {
        decoder.decode()
      } catch {
        const message = `ends at byte ${size}, in the middle of a character`
        throw notText(message, 'Send all of it.')
      }
    },
  }
}

/**
 * Streams a body that is too large for memory. `capBytes`: 0 means no limit. Throws as above, and
 * `malformed_json` with the position of invalid UTF-8.
 */
export async function* readJsonPieces(
  call: Call,
  capBytes: number,
  { otherType, tooLarge: status } = OURS,
): AsyncGenerator<string> {
  requireJson(call, CODES.otherType[otherType])
  const decoder = createDecoder()
  let size = 0
  for await (const bytes of arriving(call)) {
    size += bytes.length
    if (capBytes > 0 && size > capBytes) throw tooLarge(capBytes, CODES.tooLarge[status])
    yield decoder.decode(bytes)
  }
  decoder.end()
}
