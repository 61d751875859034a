/**
 * A way around a fault of V8: `JSON.parse` can read a key that is spelt with an escape as another key
 * that some object had before, be it another tenant's (https://github.com/nodejs/node/issues/63785).
 * Such keys never reach it: plain names stand in for them while the source is parsed.
 */

/** Where a key stands in its source, its quotes included. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** What no key of the source begins with. */
function freeName(source: string): string {
  let name = 'k'
  while (source.includes(`"${name}`)) name += 'k'
  return name
}

type Names = ReadonlyMap<string, string>

function restore(value: unknown, names: Names, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return value
  if (Array.isArray(value)) return value.map((item) => restore(item, names, depth - 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      names.get(key) ?? key,
      restore(member, names, depth - 1),
    ]),
  )
}

/** The value of valid JSON whose escaped keys are at the spans; below `maxDepth` it is of no use. */
export function parseEscapedKeys(
  source: string,
  escaped: readonly Span[],
  maxDepth: number,
): unknown {
  const name = freeName(source)
  const names = new Map<string, string>()
  let plain = ''
  let at = 0
  for (const { start, end } of escaped) {
    const standIn = name + names.size
    names.set(standIn, JSON.parse(source.slice(start, end)))
    plain += `${source.slice(at, start)}"${standIn}"`
    at = end
  }
  return restore(JSON.parse(plain + source.slice(at)), names, maxDepth)
}
