/** Who is calling, as counted: the client's address behind listed proxies, IPv6 by its /64. */
import { type BlockList, isIP } from 'node:net'
import type { Call } from './call.ts'

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

const listed = (set: BlockList, address: string): boolean => {
  const family = isIP(address)
  return family !== 0 && set.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

export const peerIsListed = (set: BlockList, call: Call): boolean =>
  listed(set, unmapped(call.peer))

/** The eight groups of an IPv6 address, its `::` filled in. */
function groups(address: string): string[] {
  const [head = '', tail] = address.split('::')
  const left = head.split(':').filter(Boolean)
  const right = (tail ?? '').split(':').filter(Boolean)
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...right]
}

const countedAs = (address: string): string =>
  isIP(address) === 6
    ? `${groups(address.replace(/%.*$/, ''))
        .slice(0, 4)
        .map((group) => Number.parseInt(group, 16).toString(16))
        .join(':')}::/64`
    : address

/** The key under which a client's births and failures are counted. */
export function clientKey(call: Call, trustedProxies: BlockList): string {
  let address = unmapped(call.peer)
  const forwarded = call.requestHeaders['x-forwarded-for']?.split(',') ?? []
  while (forwarded.length > 0 && listed(trustedProxies, address)) {
    const next = unmapped(forwarded.pop()?.trim() ?? '')
    if (!isIP(next)) break
    address = next
  }
  return countedAs(address)
}
