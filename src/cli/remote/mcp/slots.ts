/** At most so many at once, in the order in which they came: a home closes connections beyond its limit. */
export function createSlots(most: number) {
  let free = most
  const waiting: PromiseWithResolvers<void>[] = []

  function leave(): void {
    const next = waiting.shift()
    if (next) next.resolve()
    else free += 1
  }

  return {
    /** Resolves with what releases the slot. */
    async take(): Promise<() => void> {
      if (free > 0) {
        free -= 1
        return leave
      }
      const turn = Promise.withResolvers<void>()
      waiting.push(turn)
      await turn.promise
      return leave
    },
    /** Refuses all that wait. */
    refuse(error: Error): void {
      for (const { reject } of waiting.splice(0)) reject(error)
    },
  }
}
