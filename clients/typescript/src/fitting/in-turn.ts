/** Work on one key after the other, in the order in which it was asked for. */
export class InTurn {
  readonly #last = new Map<string, Promise<void>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve()
    const own = before.then(work)
    const done = own.then(
      () => undefined,
      () => undefined,
    )
    this.#last.set(key, done)
    void done.then(() => {
      if (this.#last.get(key) === done) this.#last.delete(key)
    })
    return own
  }
}
