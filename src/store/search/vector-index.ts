/** The vectors of a home's index, in memory. */
import type { VectorOf } from '../port/vectors.ts'

interface Stored extends VectorOf {
  readonly model: string
}

/** Approximate bytes per vector, without its numbers. */
const VECTOR_BYTES = 200

export class Vectors {
  readonly #stored = new Map<string, Stored>()
  #bytes = 0
  /** The highest number that was read. */
  at = 0

  /** In the order of their numbers. */
  put({ n, ...stored }: Stored & { readonly n: number }): void {
    this.#drop(stored.key)
    this.#stored.set(stored.key, stored)
    this.#bytes += VECTOR_BYTES + stored.vector.byteLength
    this.at = n
  }

  /** Forgets the vector of an earlier version than this one. */
  keepFrom(key: string, version: number): void {
    if ((this.#stored.get(key)?.version ?? version) < version) this.#drop(key)
  }

  #drop(key: string): void {
    const stored = this.#stored.get(key)
    if (!stored) return
    this.#stored.delete(key)
    this.#bytes -= VECTOR_BYTES + stored.vector.byteLength
  }

  of(model: string): readonly Stored[] {
    return [...this.#stored.values()].filter((stored) => stored.model === model)
  }

  /** Approximate bytes of memory. */
  get bytes(): number {
    return this.#bytes
  }
}
