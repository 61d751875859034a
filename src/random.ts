/** A pool of random bytes for many callers. */

const POOL_BYTES = 4_096

type Random = (bytes: number) => Uint8Array

/** Every byte is used once and then wiped from the pool. */
export function pooled(source: Random): Random {
  let pool = new Uint8Array()
  let used = 0
  return (bytes) => {
    if (bytes > POOL_BYTES) return source(bytes)
    if (used + bytes > pool.length) {
      pool = new Uint8Array(source(POOL_BYTES))
      used = 0
    }
    const taken = pool.slice(used, used + bytes)
    pool.fill(0, used, used + bytes)
    used += bytes
    return taken
  }
}
