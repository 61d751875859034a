/** Gzip for whole responses (RFC 9110, section 8.4), in the thread pool and limited in number. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'
import type { Answer, Call } from './call.ts'
import { varyBy } from './negotiate.ts'

/** Smaller responses gain nothing. */
const LEAST_BYTES = 4_096

/** More would delay file access and password hashing, which use the same threads. */
const AT_ONCE = 2

const CHOSEN_BY = 'Accept-Encoding'

/**
 * Only for public responses: if a text contains a secret and a stranger's guess, its compressed
 * length reveals whether they match (BREACH).
 */
export const mayCompress = (call: Call): void => varyBy(call, CHOSEN_BY)

function takesGzip(accepted: string | undefined): boolean {
  const codings = parseAccept(accepted ?? '')
  const named =
    codings.find(({ type }) => type === 'gzip') ?? codings.find(({ type }) => type === '*')
  return (named?.q ?? 0) > 0
}

const zip = promisify(gzip)

export interface Compressed {
  readonly headers: Answer['headers']
  readonly bytes: Uint8Array
}

/** A strong tag belongs to the uncompressed text (RFC 9110, section 8.8.3). */
const weak = (etag: string): string => (etag.startsWith('W/') ? etag : `W/${etag}`)

/** Undefined if it is sent uncompressed. */
export function createCompressor() {
  let running = 0

  async function run({ ETag, ...headers }: Answer['headers'], text: string) {
    running++
    try {
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
    } catch {
      return undefined
    } finally {
      running--
    }
  }

  return (
    { headers, body }: Answer,
    accepted: string | undefined,
  ): Promise<Compressed | undefined> | undefined =>
    typeof body === 'string' &&
    body.length > LEAST_BYTES &&
    running < AT_ONCE &&
    headers.Vary?.includes(CHOSEN_BY) &&
    takesGzip(accepted)
      ? run(headers, body)
      : undefined
}
