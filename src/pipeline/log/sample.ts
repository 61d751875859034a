/** Lines of a kind: a few in each window as they come, and the rest as their number. */

export interface Sample {
  /** Lines of one kind that are written in a window. */
  readonly lines: number
  readonly windowMs: number
}

export interface Kind {
  readonly [name: string]: string | number
}

/**
 * Whether a line of this kind is still to be written. `sum` is told at the end of the window of
 * those that were not. The kinds must be few: each is remembered for a window.
 */
export function sampling(
  { lines, windowMs }: Sample,
  sum: (kind: Kind, unwritten: number) => void,
): (kind: Kind) => boolean {
  const seen = new Map<string, { kind: Kind; count: number }>()

  function turn(): void {
    for (const { kind, count } of seen.values()) if (count > lines) sum(kind, count - lines)
    seen.clear()
  }

  return (kind) => {
    const name = Object.values(kind).join(' ')
    if (seen.size === 0) setTimeout(turn, windowMs).unref()
    const found = seen.get(name) ?? { kind, count: 0 }
    seen.set(name, found)
    found.count++
    return found.count <= lines
  }
}
