/** The target and host of a request (RFC 9112, section 3.2). */
import { problem } from '../errors.ts'
import { requireReadableQuery } from './readable.ts'

interface Target {
  readonly host: string
  readonly path: string
  /** The query string without its question mark. */
  readonly search: string
}

/** In lower case; the port without leading zeros, and omitted if 80. */
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?!0|80$)(?:\d{1,4}|[1-5]\d{4}))?$/

/** A path and query with nothing to decode or resolve. */
const PLAIN = /^\/[\w!$&-,\-./:;=?@~%]*$/
const DOT_SEGMENT = /\/\.{1,2}(?:[/?]|$)/

function split(host: string, address: string): Target {
  const mark = address.indexOf('?')
  return mark < 0
    ? { host, path: address, search: '' }
    : { host, path: address.slice(0, mark), search: address.slice(mark + 1) }
}

/** Characters that would change the meaning of the URL. */
const MORE_THAN_HOST = /[/?#@\\\s]/

const ABSOLUTE = /^https?:\/\//
const AUTHORITY = /^https?:\/\/[^/?]*/

/**
 * Undefined if invalid. A path has one spelling: with dot segments, a backslash or characters to
 * encode, a proxy's rule about a literal path would see another one than the routes.
 */
export function targetOf(host: string | undefined, target: string): Target | undefined {
  if (host && PLAIN_HOST.test(host) && PLAIN.test(target) && !DOT_SEGMENT.test(target)) {
    return split(host, target)
  }
  if (!host || MORE_THAN_HOST.test(host)) return undefined
  const absolute = ABSOLUTE.test(target)
  if (!absolute && target[0] !== '/') return undefined
  const url = URL.parse(absolute ? target : `http://${host}${target}`)
  if (!url || url.username || url.hash) return undefined
  const path = (absolute ? target.replace(AUTHORITY, '') : target).split('?', 1)[0]
  return url.pathname === (path || '/') ? split(url.host, url.pathname + url.search) : undefined
}

type Pair = readonly [name: string, value: string]

/** A single plain pair, the most common query, needs no decoding. */
function pairsOf(search: string): readonly Pair[] {
  if (search === '') return []
  const mark = search.indexOf('=')
  return mark > 0 && !/[&%+]/.test(search)
    ? [[search.slice(0, mark), search.slice(mark + 1)]]
    : [...new URLSearchParams(search)]
}

/** The first repeated name. */
function twiceIn(pairs: readonly Pair[]): string | undefined {
  const seen = new Set<string>()
  // The set grows with each new name.
  return pairs.find(([name]) => seen.size === seen.add(name).size)?.[0]
}

/** Throws `invalid_query` for a repeated or unreadable parameter. */
export function queryOf(search: string): Record<string, string> {
  requireReadableQuery(search)
  const pairs = pairsOf(search)
  const twice = pairs.length > 1 ? twiceIn(pairs) : undefined
  if (twice !== undefined) {
    const errors = [{ pointer: `?${twice}`, message: 'was sent twice; send it once' }]
    throw problem('invalid_query', { errors })
  }
  return Object.fromEntries(pairs)
}
