/**
 * The client of a request as it is counted: its address behind trusted proxies; for IPv6 its /64.
 */
import { BlockList, isIP } from 'node:net'
import type { Call } from './call.ts'

const unmapped = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '')

/** A text that is no address is in no set. */
const listed = (set: BlockList, address: string): boolean =>
  set.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')

export const peerIsListed = (set: BlockList, call: Call): boolean =>
  listed(set, unmapped(call.peer))

/**
 * Headers that proxies add. A forwarded request came from elsewhere, whatever the peer's address.
 */
const FORWARDING = /^(?:forwarded|via|x-real-ip|x-forwarded-.*)$/

export const isForwarded = ({ requestHeaders }: Pick<Call, 'requestHeaders'>): boolean =>
  Object.keys(requestHeaders).some((name) => FORWARDING.test(name))

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** From this machine itself, and through no proxy on it that is known or says so. */
export const isLocal = (call: Call, trustedProxies: BlockList): boolean =>
  peerIsListed(LOOPBACK, call) && !peerIsListed(trustedProxies, call) && !isForwarded(call)

/** The /64 of an IPv6 address: the first four of its eight groups, with `::` expanded. */
function network(address: string): string {
  const halves = address.replace(/%.*/, '').split('::')
  const [left = [], right = []] = halves.map((half) => half.split(':').filter(Boolean))
  const zeros = Array<string>(8 - left.length - right.length).fill('0')
  const groups = [...left, ...zeros, ...right].slice(0, 4)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/**
 * The prefix that the keys of all clients in an IPv6 /48 share; undefined for IPv4. A site is given
 * a /48, which has 65,536 client keys.
 */
export const networkOf = (client: string): string | undefined =>
  /^(?:[0-9a-f]+:){3}/.exec(client)?.[0]

const countedAs = (address: string): string => (isIP(address) === 6 ? network(address) : address)

/** The client's address according to trusted proxies. */
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

/** The key by which a client is counted. */
export const clientKey = (call: Call, trustedProxies: BlockList): string =>
  countedAs(clientAddress(call, trustedProxies))

/** The client's network for display: an IPv4 /24 or an IPv6 /48. */
export function neighbourhood(call: Call, trustedProxies: BlockList): string {
  const address = clientAddress(call, trustedProxies)
  const kind = isIP(address)
  if (kind === 4) return address.replace(/\d+$/, 'x')
  return kind === 6 ? network(address).replace(/^((?:[^:]+:){3}).*/, '$1x') : ''
}

/** The key of a socket's peer, for concurrency limits; undefined for a trusted proxy. */
export const peerKey = (peer: string, exempt: BlockList): string | undefined =>
  listed(exempt, unmapped(peer)) ? undefined : countedAs(unmapped(peer))
