/** One-time links for setting a new password when the old one is lost. */
import { hash } from 'node:crypto'

/** Where it leads, from the service's address. */
export const RECOVER = '/console/recover'

export const LINK_BYTES = 32

export const LINK_MINUTES = 30

/** What the store knows of the secret in a link. */
export const hashLink = (secret: string): string =>
  hash('sha256', `agent-home recovery ${secret}`, 'hex')

export const linkTo = (base: string, secret: string): string => `${base}${RECOVER}?link=${secret}`
