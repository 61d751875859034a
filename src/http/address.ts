/** Who is calling, as counted: the client's address behind listed proxies, IPv6 by its /64. */
import { type BlockList, isIP } from 'node:net'
import type { Call } from './call.ts'

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** What is no address is in no set. */
const listed = (set: BlockList, address: string): boolean =>
  set.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

export const peerIsListed = (set: BlockList, call: Call): boolean =>
  listed(set, unmapped(call.peer))

const groupsOf = (half: string): string[] => half.split(':').filter(Boolean)

/** The eight groups of an IPv6 address, its `::` filled in. */
function groups(address: string): string[] {
  const [left = [], right = []] = address.split('::').map(groupsOf)
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right]
}

const network = (address: string): string =>
  `${groups(address.replace(/%.*/, ''))
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`

/**
 * What the keys of all clients of one IPv6 /48 begin with; undefined where a client is one address.
 * A site is given a /48, and has 65,536 of what counts as a client in it.
 */
export const networkOf = (client: string): string | undefined =>
  /^(?:[0-9a-f]+:){3}/.exec(client)?.[0]

const countedAs = (address: string): string => (isIP(address) === 6 ? network(address) : address)

/** The client's own address: what the listed proxies in front of us say of it. */
function clientAddress(call: Call, trustedProxies: BlockList): string {
  let address = unmapped(call.peer)
  const forwarded = call.requestHeaders['x-forwarded-for']?.split(',') ?? []
  for (const each of forwarded.toReversed()) {
    const next = unmapped(each.trim())
    if (!listed(trustedProxies, address) || !isIP(next)) break
    address = next
  }
  return address
}

/** The key under which a client's births, failures and streams are counted. */
export const clientKey = (call: Call, trustedProxies: BlockList): string =>
  countedAs(clientAddress(call, trustedProxies))

/** Where a client is, for people: of an IPv4 address its /24, of an IPv6 one its /48. */
export function neighbourhood(call: Call, trustedProxies: BlockList): string {
  const address = clientAddress(call, trustedProxies)
  const kind = isIP(address)
  if (kind === 4) return address.replace(/\d+$/, 'x')
  return kind === 6 ? network(address).replace(/^((?:[^:]+:){3}).*/, '$1x') : ''
}

/** The same of a socket's other end, for what is held at once; undefined where it speaks for many. */
export const peerKey = (peer: string, exempt: BlockList): string | undefined =>
  listed(exempt, unmapped(peer)) ? undefined : countedAs(unmapped(peer))
