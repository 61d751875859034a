/** Lists that come page by page, as one. */

export interface Page<T, Cursor> {
  readonly items: readonly T[]
  /** Null at the end. A page may be empty before it. */
  readonly next: Cursor | null
}

/** Asks for the next page when the last one is used up: who stops early asks no further. */
export async function* pages<T, Cursor>(
  ask: (after: Cursor | undefined) => Promise<Page<T, Cursor>>,
  start?: Cursor,
): AsyncGenerator<T, void> {
  let after: Cursor | undefined = start
  for (;;) {
    const { items, next } = await ask(after)
    yield* items
    if (next === null) return
    after = next
  }
}
