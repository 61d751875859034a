/** A store that keeps whatever it is given, for tests of everything else. */
import type { StoreOptions } from '../src/store/port/store.ts'
import { processTimers } from '../src/timers.ts'

export const unbounded: StoreOptions = {
  home: { memories: 0, bytes: 0, versions: 0, events: 0 },
  feed: { entries: 0, bytes: 0 },
  searchCache: 128 * 1_048_576,
  diskReserve: 0,
  timers: processTimers,
}
