/** Opens the data of this host while the work runs. */
import { boundsOf, loadConfig } from '../../config.ts'
import { openHost } from '../../store/open.ts'
import type { Host } from '../../store/port/host.ts'

/** Throws StoreRefused, ConfigError, or StoreUnavailable. */
export async function onHost<T>(work: (host: Host) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const host = await openHost(config.DATABASE_URL, Date.now(), boundsOf(config))
  try {
    return await work(host)
  } finally {
    await host.close()
  }
}
