/** Slices: what many wait for at once must not hold up everybody else. */

/** Runs it in the next turn of the event loop, after what has arrived meanwhile. */
export const inNextTurn = (run: () => void): void => void setImmediate(run)

/** Resolves in the next turn of the event loop. */
export const nextTurn = (): Promise<void> => new Promise(inNextTurn)

/** At most so many callers go on in one turn of the event loop, in order. */
export function takeTurns(atOnce: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  const goOn = (): void => {
    const now = waiting.slice(0, atOnce)
    waiting = waiting.slice(atOnce)
    for (const each of now) each()
    if (waiting.length > 0) inNextTurn(goOn)
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) inNextTurn(goOn)
    })
}
