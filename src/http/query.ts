/** The query string of a request, as names and values. */
import { problem } from '../errors.ts'

/** One plain pair, as a memory's key mostly is, needs no decoding. */
function pairsOf(search: string): Iterable<readonly [string, string]> {
  if (search === '') return []
  const mark = search.indexOf('=')
  return mark > 0 && !/[&%+]/.test(search)
    ? [[search.slice(0, mark), search.slice(mark + 1)]]
    : new URLSearchParams(search)
}

/** Throws `invalid_query` for a parameter that was sent twice. */
export function queryOf(search: string): Record<string, string> {
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
