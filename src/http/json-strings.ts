/** Where the strings of valid JSON are, found in one pass over its source. */

/** Where the string that opens before `from` closes. */
export function closingQuote(source: string, from: number): number {
  let end = source.indexOf('"', from)
  let slashes = 0
  while (source.charCodeAt(end - 1 - slashes) === 92) slashes++
  while (slashes % 2 === 1) {
    end = source.indexOf('"', end + 1)
    slashes = 0
    while (source.charCodeAt(end - 1 - slashes) === 92) slashes++
  }
  return end
}

/** Everything else: punctuation, numbers and words. */
export function outsideStrings(source: string): string {
  let outside = ''
  let at = 0
  for (let open = source.indexOf('"'); open >= 0; open = source.indexOf('"', at)) {
    outside += source.slice(at, open)
    at = closingQuote(source, open + 1) + 1
  }
  return outside + source.slice(at)
}
