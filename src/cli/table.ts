/** Tables for people: aligned columns, one line per row. */

/** Foreign text must not break lines or control the terminal. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')

const LONGEST = 60

const cut = (text: string, longest: number): string => {
  const letters = [...oneLine(text)]
  return letters.length > longest ? `${letters.slice(0, longest - 1).join('')}…` : letters.join('')
}

/** Columns are as wide as their longest cell, except the last. */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  longest = LONGEST,
): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cut(String(cell ?? ''), longest)))
  const widths = head.map((_, at) => Math.max(...cells.map((row) => row[at]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
  return cells.map((row) => `${line(row)}\n`).join('')
}

export const timeOf = (ms: number): string =>
  new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
