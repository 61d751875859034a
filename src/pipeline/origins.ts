/** Which addresses are our own, and whose pages may ask us. */
import { isIP } from 'node:net'

export interface OriginPolicy {
  /** The address that people use, where one is set. */
  readonly publicUrl?: string | undefined
  /** The name or address that the service listens on. */
  readonly listener: string
  /** Origins of other sites whose pages may ask the home. */
  readonly allowed: readonly string[]
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

/**
 * Anybody can have a name of theirs lead here (DNS rebinding), but neither an address nor
 * `localhost`: whoever names one of these in Host has asked this machine.
 */
const isLocal = (hostname: string, { listener }: OriginPolicy): boolean =>
  hostname === 'localhost' || hostname === listener || isAddress(hostname)

/** Whether a Host header names this service. */
export function isOwnHost(host: string, policy: OriginPolicy): boolean {
  const url = URL.parse(`http://${host}`)
  return (
    url !== null &&
    (host === URL.parse(policy.publicUrl ?? '')?.host || isLocal(url.hostname, policy))
  )
}

/** Whether an origin is the one that the request was sent to. */
export function isOwnOrigin(origin: string, host: string, policy: OriginPolicy): boolean {
  const people = URL.parse(policy.publicUrl ?? '')
  if (origin === people?.origin) return true
  const asked = URL.parse(`http://${host}`)
  return (
    asked !== null &&
    origin === asked.origin &&
    // The address that people use has one scheme.
    asked.hostname !== people?.hostname &&
    isLocal(asked.hostname, policy)
  )
}
