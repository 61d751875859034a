/** Lists that come page by page, as one. */

export interface Page<T, Cursor> {
  readonly items: readonly T[]
  /** Null at the end. A page may be empty before it. */
  readonly next: Cursor | null
}

const AT_ONCE = 100

/** Asks for the next page when the last one is used up: who stops early asks no further. */
export async function* pages<T, Cursor>(
  ask: (after: Cursor | undefined, limit: number) => Promise<Page<T, Cursor>>,
  {
    start,
    limit = Infinity,
  }: { readonly start?: Cursor | undefined; readonly limit?: number | undefined } = {},
): AsyncGenerator<T, void> {
  let after: Cursor | undefined = start
  for (let left = limit; left > 0; ) {
    const { items, next } = await ask(after, Math.min(AT_ONCE, left))
    yield* items
    left -= items.length
    if (next === null) return
    after = next
  }
}
