/** What a request line asks for, and of which host (RFC 9112, section 3.2). */
import { problem } from '../errors.ts'
import { requireReadableQuery } from './readable.ts'

export interface Target {
  readonly host: string
  readonly path: string
  /** The query string without its question mark. */
  readonly search: string
}

const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:\d{1,4}|[1-5]\d{4}))?$/

/** A path and a query that mean what they say: nothing to decode, nothing to resolve. */
const PLAIN = /^\/[\w!$&-,\-./:;=?@~%]*$/
const DOT_SEGMENT = /\/\.{1,2}(?:[/?]|$)/

function split(host: string, address: string): Target {
  const mark = address.indexOf('?')
  return mark < 0
    ? { host, path: address, search: '' }
    : { host, path: address.slice(0, mark), search: address.slice(mark + 1) }
}

/** Would lend its parts to the address. */
const MORE_THAN_HOST = /[/?#@\\\s]/

const ABSOLUTE = /^https?:\/\//

/** Undefined where it makes no address. */
export function targetOf(host: string | undefined, target: string): Target | undefined {
  if (host && PLAIN_HOST.test(host) && PLAIN.test(target) && !DOT_SEGMENT.test(target)) {
    return split(host, target)
  }
  if (!host || MORE_THAN_HOST.test(host)) return undefined
  const absolute = ABSOLUTE.test(target)
  if (!absolute && target[0] !== '/') return undefined
  const url = URL.parse(absolute ? target : `http://${host}${target}`)
  return url && !url.username ? split(url.host, url.pathname + url.search) : undefined
}

/** One plain pair, as a memory's key mostly is, needs no decoding. */
function pairsOf(search: string): Iterable<readonly [string, string]> {
  if (search === '') return []
  const mark = search.indexOf('=')
  return mark > 0 && !/[&%+]/.test(search)
    ? [[search.slice(0, mark), search.slice(mark + 1)]]
    : new URLSearchParams(search)
}

/** Throws `invalid_query` for a parameter that was sent twice, or that is no text. */
export function queryOf(search: string): Record<string, string> {
  requireReadableQuery(search)
  const query: Record<string, string> = {}
  for (const [name, value] of pairsOf(search)) {
    if (Object.hasOwn(query, name)) {
      const errors = [{ pointer: `?${name}`, message: 'was sent twice; send it once' }]
      throw problem('invalid_query', { errors })
    }
    Object.defineProperty(query, name, { value, enumerable: true })
  }
  return query
}
