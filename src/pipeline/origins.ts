/** The service's own origins, and the other origins that may call it. */
import { isIP } from 'node:net'

interface Own {
  /** The public address, if configured. */
  readonly publicUrl?: string | undefined
  /** The name or address that the service listens on. */
  readonly listener: string
  /** Other origins whose pages may call the home. */
  readonly allowed: readonly string[]
}

export interface OriginPolicy {
  /** Whether a Host header names this service. */
  readonly isOwnHost: (host: string) => boolean
  /** Whether an origin is the one that the request was sent to. */
  readonly isOwnOrigin: (origin: string, host: string) => boolean
  /** The origin of our pages under this Host; undefined if it does not name this service. */
  readonly ownOrigin: (host: string) => string | undefined
  /** Whether its pages may call the home, though it is not our own. */
  readonly isAllowed: (origin: string) => boolean
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

export function originPolicy({ publicUrl, listener, allowed }: Own): OriginPolicy {
  const people = URL.parse(publicUrl ?? '')

  /**
   * Any name can be made to resolve here (DNS rebinding), but not an IP address or `localhost`: a
   * Host header with one of these is safe.
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
        // The public address has a scheme of its own.
        asked.hostname !== people?.hostname &&
        isLocal(asked.hostname)
      )
    },
    ownOrigin(host) {
      // A proxy may use another name than people do.
      if (people) return people.origin
      const asked = URL.parse(`http://${host}`)
      return asked !== null && isLocal(asked.hostname) ? asked.origin : undefined
    },
    isAllowed: (origin) => allowed.includes(origin),
  }
}
