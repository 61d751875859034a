/** Request body -> JSON value, bounded while it is read. */
import type { Readable } from 'node:stream'
import { type ErrorCode, problem } from '../errors.ts'
import type { Call } from './call.ts'

/** The codes of what is wrong with a body before it is read, by the status that they come with. */
const CODES = {
  otherType: { 400: 'wrong_media_type', 415: 'unsupported_media_type' },
  tooLarge: { 400: 'oversized_body', 413: 'body_too_large' },
} as const satisfies Record<string, Readonly<Record<number, ErrorCode>>>

/** The interface lists the statuses of its operations: an answer outside its list surprises. */
export interface BodyStatuses {
  readonly otherType: keyof typeof CODES.otherType
  readonly tooLarge: keyof typeof CODES.tooLarge
}

/** For operations that are ours. */
const OURS: BodyStatuses = { otherType: 415, tooLarge: 413 }

/** What a body may be refused for while it is read and validated. */
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
    // What breaks while a body arrives broke on its sender's side.
    const broke = (cause?: Error) => reject(problem('body_incomplete', { cause }))
    const take = (chunk: Buffer): void => {
      size += chunk.length
      if (size <= capBytes) return void chunks.push(chunk)
      reject(tooLarge(capBytes, code))
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

/**
 * All of a body that is there by now, as most are: to hear of it piece by piece costs more. Without
 * its size, `read` gives the first of its pieces.
 */
const arrived = (body: Readable, declared: number): Uint8Array | undefined =>
  declared > 0 && body.readableLength === declared && !body.destroyed
    ? body.read(declared)
    : undefined

/** Throws `body_incomplete`, and the code where it is too large. */
export async function readBytes(
  call: Call,
  capBytes: number,
  code: ErrorCode = 'body_too_large',
): Promise<Uint8Array> {
  // Node's parser ends a body at its Content-Length, so the declared size is the real one.
  const declared = Number(call.requestHeaders['content-length'] ?? 0)
  if (declared > capBytes) throw tooLarge(capBytes, code)
  // Node parses what came with the headers once whoever was told of them is done.
  await undefined
  return arrived(call.body, declared) ?? collect(call.body, capBytes, code)
}

/** Throws `body_incomplete`, and what the statuses stand for. */
export async function readJsonBytes(
  call: Call,
  capBytes: number,
  { otherType, tooLarge } = OURS,
): Promise<Uint8Array> {
  requireJson(call, CODES.otherType[otherType])
  return readBytes(call, capBytes, CODES.tooLarge[tooLarge])
}

/** Left alone by whoever stops before its end: the rest runs past, for its refusal to be read. */
async function* arriving({ body, bodyAtPace }: Call): AsyncGenerator<Uint8Array> {
  if (body.destroyed) throw problem('body_incomplete', { cause: body.errored ?? undefined })
  try {
    yield* bodyAtPace?.() ?? body.iterator({ destroyOnReturn: false })
  } catch (cause) {
    throw problem('body_incomplete', { cause })
  } finally {
    body.resume()
  }
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

function beginsText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** How many of the bytes a text can begin with, where it cannot with all of them. */
function lengthOfText(bytes: Uint8Array): number {
  let [least, most] = [0, bytes.length]
  while (most - least > 1) {
    const middle = (least + most) >>> 1
    if (beginsText(bytes.subarray(0, middle))) least = middle
    else most = middle
  }
  return least
}

/** Bytes of the longest character, but for its last. */
const MOST_BEFORE = 3

/** Decodes pieces, and says at which byte of them all they stop being text. */
function createDecoder() {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let size = 0
  let before: Uint8Array = new Uint8Array()

  /** A piece may break in the midst of a character, which the one before it began. */
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
        const detail = `The body ${message}. Encode it as UTF-8 and send it again.`
        throw problem('malformed_json', { detail, errors: [{ pointer: '', message }] })
      }
    },
    end(): void {
      try {
        decoder.decode()
      } catch {
        const message = `ends at byte ${size}, in the middle of a character`
        const detail = `The body ${message}. Send all of it.`
        throw problem('malformed_json', { detail, errors: [{ pointer: '', message }] })
      }
    },
  }
}

/**
 * A body that is too long to be held, as it arrives. `capBytes`: 0 is without bound. Throws as above,
 * and `malformed_json` with the byte at which it stops being text.
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
