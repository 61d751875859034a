/** Browsers know one line end; what is stored may have others, and keeps them. */

export const withLineFeeds = (text: string): string => text.replace(/\r\n?/g, '\n')

const linesIn = (text: string): string[] => text.split(/(?<=\r\n|\n|\r(?!\n))/)

function commonCount(a: readonly string[], b: readonly string[]): number {
  let count = 0
  while (count < Math.min(a.length, b.length) && a[count] === b[count]) count++
  return count
}

/** The lines that both begin and end with come from `stored` as they are there. */
function patched(stored: string, text: string): string {
  const kept = linesIn(stored)
  const plain = kept.map(withLineFeeds)
  const lines = linesIn(text)
  const start = commonCount(plain, lines)
  const end = commonCount(plain.slice(start).toReversed(), lines.slice(start).toReversed())
  return [
    ...kept.slice(0, start),
    ...lines.slice(start, lines.length - end),
    ...kept.slice(kept.length - end),
  ].join('')
}

/** The text with the line ends of what is stored: where those are all alike, all of them. */
export function lineEndsOf(stored: string, text: string): string {
  const lines = withLineFeeds(text)
  if (!stored.includes('\r')) return lines
  const allCrLf = !/(?<!\r)\n|\r(?!\n)/.test(stored)
  return allCrLf ? lines.replaceAll('\n', '\r\n') : patched(stored, lines)
}
