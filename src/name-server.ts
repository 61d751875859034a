/** Addresses of names, by the name servers that this machine uses. It is handed in. */
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** The system's resolver would take a thread of a pool that is small, and hold it past any deadline. */
export async function resolveName(hostname: string, signal: AbortSignal): Promise<LookupAddress[]> {
  const family = isIP(hostname)
  if (family !== 0) return [{ address: hostname, family }]
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const found = await Promise.all(
    ([4, 6] as const).map(async (kind) => {
      const addresses = resolver[`resolve${kind}`](hostname)
      return (await addresses.catch(() => [])).map((address) => ({ address, family: kind }))
    }),
  )
  return found.flat()
}
