/** The service's own origins, and the other origins that may call it. */
import { isIP } from 'node:net'

interface Own {
  /** The address that people use, where one is set. */
  readonly publicUrl?: string | undefined
  /** The name or address that the service listens on. */
  readonly listener: string
  /** Origins of other sites whose pages may ask the home. */
  readonly allowed: readonly string[]
}

export interface OriginPolicy {
  /** Whether a Host header names this service. */
  readonly isOwnHost: (host: string) => boolean
  /** Whether an origin is the one that the request was sent to. */
  readonly isOwnOrigin: (origin: string, host: string) => boolean
  /** That of our pages for who asked for the host; undefined where neither names this service. */
  readonly ownOrigin: (host: string) => string | undefined
  /** Whether its pages may ask the home, though it is not our own. */
  readonly isAllowed: (origin: string) => boolean
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

export function originPolicy({ publicUrl, listener, allowed }: Own): OriginPolicy {
  const people = URL.parse(publicUrl ?? '')

  /**
   * Anybody can have a name of theirs lead here (DNS rebinding), but neither an address nor
   * `localhost`: whoever names one of these in Host has asked this machine.
   */
  const isLocal = (hostname: string): boolean =>
    hostname === 'localhost' || hostname === listener || isAddress(hostname)

  return {
    isOwnHost(host) {
      const asked = URL.parse(`http://${host}`)
      return asked !== null && (host === people?.host || isLocal(asked.hostname))
    },
    isOwnOrigin(origin, host) {
      if (origin === people?.origin) return true
      const asked = URL.parse(`http://${host}`)
      return (
        asked !== null &&
        origin === asked.origin &&
        // The address that people use has one scheme.
        asked.hostname !== people?.hostname &&
        isLocal(asked.hostname)
      )
    },
    ownOrigin(host) {
      // A proxy may ask by another name than people do.
      if (people) return people.origin
      const asked = URL.parse(`http://${host}`)
      return asked !== null && isLocal(asked.hostname) ? asked.origin : undefined
    },
    isAllowed: (origin) => allowed.includes(origin),
  }
}
