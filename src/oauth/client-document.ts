/**
 * Fetches the metadata document of a client (draft-ietf-oauth-client-id-metadata-document). A
 * stranger chooses the address, so the request goes only to public ones, and to the very address
 * that was checked: a name that resolves differently the next time (DNS rebinding) gains nothing.
 */
import type { LookupAddress } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { BlockList } from 'node:net'
import type { Timers } from '../timers.ts'

export const DOCUMENT_BYTES = 5_120
export const DOCUMENT_MS = 5_000

export type FetchDocument = (url: URL) => Promise<string>

/** How names are resolved and connections made. */
export interface Reach {
  readonly resolve: (hostname: string, signal: AbortSignal) => Promise<readonly LookupAddress[]>
  /** Only public addresses by default. */
  readonly mayReach?: (address: LookupAddress) => boolean
  readonly tls?: Pick<RequestOptions, 'ca'>
}

interface Fetching {
  readonly reach: Reach
  readonly timers: Timers
}

/** Not reachable from the public internet (IANA's special-purpose registries), and multicast. */
const SPECIAL: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.0.2.0', 24, 'ipv4'],
  ['192.88.99.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['198.51.100.0', 24, 'ipv4'],
  ['203.0.113.0', 24, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
]

/** Global unicast; of it, what embeds IPv4 addresses, and what is for documentation. */
const GLOBAL: readonly [string, number] = ['2000::', 3]
const SPECIAL_GLOBAL: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]

const special = new BlockList()
for (const [address, bits, family] of SPECIAL) special.addSubnet(address, bits, family)
for (const [address, bits] of SPECIAL_GLOBAL) special.addSubnet(address, bits, 'ipv6')
const unicast = new BlockList()
unicast.addSubnet(...GLOBAL, 'ipv6')

export const isPublic = ({ address, family }: LookupAddress): boolean =>
  family === 4
    ? !special.check(address, 'ipv4')
    : unicast.check(address, 'ipv6') && !special.check(address, 'ipv6')

const isJson = (type = ''): boolean => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

async function textOf(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200) throw new Error(`the status is ${response.statusCode}`)
  if (!isJson(response.headers['content-type'])) throw new Error('the type is not JSON')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > DOCUMENT_BYTES) throw new Error(`it has more than ${DOCUMENT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}

/** All addresses of a name must be public: which one is used is not the name's owner's to choose. */
async function addressOf(
  { hostname }: URL,
  { resolve, mayReach = isPublic }: Reach,
  signal: AbortSignal,
): Promise<LookupAddress> {
  const addresses = await resolve(hostname.replace(/^\[|\]$/g, ''), signal)
  const [first] = addresses
  if (!first || !addresses.every(mayReach)) throw new Error('the address is not public')
  return first
}

async function get(url: URL, pinned: LookupAddress, signal: AbortSignal, { tls }: Reach) {
  const { request } = await import('node:https')
  return new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url, {
      ...tls,
      agent: false,
      signal,
      headers: { Accept: 'application/json' },
      lookup: (_, { all }, found) =>
        all ? found(null, [pinned]) : found(null, pinned.address, pinned.family),
    })
    asked.on('response', resolve).on('error', reject).end()
  })
}

/** Rejects with a sentence; redirects are not followed. */
export const fetchingBy =
  ({ reach, timers }: Fetching): FetchDocument =>
  async (url) => {
    if (url.protocol !== 'https:') throw new Error('the address is not https')
    const aborting = new AbortController()
    const cancel = timers.after(DOCUMENT_MS, () => aborting.abort())
    const { signal } = aborting
    const tooLate = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error(`it took over ${DOCUMENT_MS} ms`)))
    })
    const whole = async () =>
      textOf(await get(url, await addressOf(url, reach, signal), signal, reach))
    try {
      return await Promise.race([whole(), tooLate])
    } finally {
      cancel()
      tooLate.catch(() => undefined)
      aborting.abort()
    }
  }
