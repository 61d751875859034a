/** Work that is asked for again and again, but never runs twice at once. */

/** Asked while it runs, it runs once more; what one turn of the event loop asks is one run. */
export function coalesce(work: () => Promise<void>): () => void {
  let running = false
  let again = false

  async function runWhileAsked(): Promise<void> {
    try {
      while (again) {
        again = false
        await work()
      }
    } catch {
      // The store is not available now. The next run finds what this one would have found.
    } finally {
      running = false
    }
  }

  return () => {
    again = true
    if (running) return
    running = true
    setImmediate(() => void runWhileAsked())
  }
}
