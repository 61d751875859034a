/** What the settings say of a store, and of where the service is reached. */
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
  searchCache: config.SEARCH_CACHE,
  diskReserve: config.DISK_RESERVE,
})

/** All addresses of a machine are reached by its own. */
const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** As people reach it, as far as the settings tell. */
export function addressOfService({ HOST, PORT, PUBLIC_URL }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL
  const host = EVERYWHERE.has(HOST) ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}
