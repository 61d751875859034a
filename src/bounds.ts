/** Limits and addresses from the settings. */
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

/** A wildcard address is reached at this machine's own. */
const EVERYWHERE = new Set(['0.0.0.0', '::'])

/** The public address, as far as the settings say. */
export function addressOfService({ HOST, PORT, PUBLIC_URL }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL
  const host = EVERYWHERE.has(HOST) ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`
}
