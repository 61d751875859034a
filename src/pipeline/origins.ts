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

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)

/** An address that OAuth can be used at: https without a path, or this machine itself. */
const issuerAt = (url: URL | null): string | undefined =>
  url?.pathname === '/' && (url.protocol === 'https:' || isLoopback(url.hostname))
    ? url.origin
    : undefined

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

export function originPolicy({ publicUrl, listener, allowed }: Own) {
  const people = URL.parse(publicUrl ?? '')

  /**
   * Any name can be made to resolve here (DNS rebinding), but not an IP address or `localhost`: a
   * Host header with one of these is safe.
   */
  const isLocal = (hostname: string): boolean =>
    hostname === 'localhost' || hostname === listener || isAddress(hostname)

  /** Whether a Host header names this service. */
  function isOwnHost(host: string): boolean {
    const asked = URL.parse(`http://${host}`)
    return asked !== null && (host === people?.host || isLocal(asked.hostname))
  }

  return {
    isOwnHost,
    /** Whether an origin is the one that the request was sent to. */
    isOwnOrigin(origin: string, host: string): boolean {
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
    /** The origin of our pages under this Host; undefined if it does not name this service. */
    ownOrigin(host: string): string | undefined {
      // A proxy may use another name than people do.
      if (people) return people.origin
      const asked = URL.parse(`http://${host}`)
      return asked !== null && isLocal(asked.hostname) ? asked.origin : undefined
    },
    /** The issuer of OAuth under this Host; undefined if it is not offered there. */
    issuer: (host: string): string | undefined =>
      issuerAt(people ?? (isOwnHost(host) ? URL.parse(`http://${host}`) : null)),
    /** Whether its pages may call the home, though it is not our own. */
    isAllowed: (origin: string): boolean => allowed.includes(origin),
  }
}

export type OriginPolicy = ReturnType<typeof originPolicy>
