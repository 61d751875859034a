/** Slices: what many wait for at once must not hold up everybody else. */

/** At most so many callers go on in one turn of the event loop, in order. */
export function takeTurns(atOnce: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  const goOn = (): void => {
    const now = waiting.slice(0, atOnce)
    waiting = waiting.slice(atOnce)
    for (const each of now) each()
    if (waiting.length > 0) setImmediate(goOn)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(goOn)
    })
}
