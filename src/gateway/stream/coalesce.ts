/** Looking again and again, but never twice at once. */

/** Asked while it looks, it looks once more; what one turn of the event loop asks is one look. */
export function createLookout(look: () => Promise<void>): () => void {
  let looking = false
  let again = false

  async function lookWhileAsked(): Promise<void> {
    try {
      while (again) {
        again = false
        await look()
      }
    } catch {
      // The store does not answer now. The next look finds what this one would have found.
    } finally {
      looking = false
    }
  }

  return () => {
    again = true
    if (looking) return
    looking = true
    setImmediate(() => void lookWhileAsked())
  }
}
