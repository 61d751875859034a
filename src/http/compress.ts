/** Whole answers in gzip (RFC 9110, section 8.4), beside the event loop and a few at a time. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import type { Answer, Call } from './call.ts'
import { varyBy } from './negotiate.ts'

/** Less gains nothing that a reader would notice. */
const LEAST_BYTES = 4_096

/** More would keep files and passwords waiting, which the same threads serve. */
const AT_ONCE = 2

const CHOSEN_BY = 'Accept-Encoding'

/**
 * Only for what is no secret to anybody: of a text that holds a secret and a stranger's guess at it,
 * the length would tell whether they are alike (BREACH).
 */
export const mayCompress = (call: Call): void => varyBy(call, CHOSEN_BY)

function takesGzip(accepted: string | undefined): boolean {
  const codings = parseAccept(accepted ?? '')
  const named =
    codings.find(({ type }) => type === 'gzip') ?? codings.find(({ type }) => type === '*')
  return (named?.q ?? 0) > 0
}

const zip = promisify(gzip)

/** An answer's body as bytes, and the headers that go with it. */
export interface Compressed {
  readonly headers: Answer['headers']
  readonly bytes: Uint8Array
}

/** The text itself has another tag, if it has a strong one (RFC 9110, section 8.8.3). */
const weak = (etag: string): string => (etag.startsWith('W/') ? etag : `W/${etag}`)

async function compressed(
  { ETag, ...headers }: Answer['headers'],
  text: string,
): Promise<Compressed> {
  const bytes = await zip(text)
  return {
    bytes,
    headers: {
      ...headers,
      ...(ETag && { ETag: weak(ETag) }),
      'Content-Encoding': 'gzip',
      'Content-Length': String(bytes.length),
    },
  }
}

/** Undefined where it goes as it is: what may not be compressed, or not now, or not for this client. */
export function createCompressor() {
  let running = 0

  async function run(headers: Answer['headers'], text: string): Promise<Compressed | undefined> {
    running++
    try {
      return await compressed(headers, text)
    } catch {
      return undefined
    } finally {
      running--
    }
  }

  return ({ headers, body }: Answer, accepted: string | undefined) =>
    typeof body === 'string' &&
    body.length > LEAST_BYTES &&
    running < AT_ONCE &&
    headers.Vary?.includes(CHOSEN_BY) &&
    takesGzip(accepted)
      ? run(headers, body)
      : undefined
}
