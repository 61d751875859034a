/**
 * Work of one home is begun when what this node began for it before has ended: only one of its
 * connections waits for a home, and other homes have the rest.
 */
export function lanes(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key)
    const mine = before ? before.then(work, work) : work()
    last.set(key, mine)
    try {
      return await mine
    } finally {
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
