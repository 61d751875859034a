/** When named keys were last used: written down now and then, and waited for by nobody. */
import type { Identity } from '../../store/port/home.ts'
import { type KeyStore, USE_MS } from '../../store/port/keys.ts'

/** Keys that are remembered; what is forgotten is noted once more, and the store knows better. */
const MOST_KEYS = 10_000

export function noteUses(store: Pick<KeyStore, 'noteUse'>, clock: () => number) {
  const noted = new Map<string, number>()
  return (identity: Identity): void => {
    const { tokenHash } = identity
    const now = clock()
    if (now - (noted.get(tokenHash) ?? Number.NEGATIVE_INFINITY) < USE_MS) return
    if (noted.size >= MOST_KEYS) noted.clear()
    noted.set(tokenHash, now)
    // A use that could not be written down fails no request.
    store.noteUse(identity, now).catch(() => undefined)
  }
}
