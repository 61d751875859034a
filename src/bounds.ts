/** What the settings say of a store. */
import type { Config } from './config.ts'
import type { StoreOptions } from './store/port/store.ts'

export const boundsOf = (config: Config): StoreOptions => ({
  home: {
    memories: config.MEMORIES_PER_AGENT,
    bytes: config.BYTES_PER_AGENT,
    versions: config.VERSIONS_PER_MEMORY,
    events: config.EVENTS_PER_AGENT,
  },
  feed: { entries: config.FEED_CAPACITY, bytes: config.FEED_BYTES },
  diskReserve: config.DISK_RESERVE,
})
