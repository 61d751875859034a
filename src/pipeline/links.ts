/** One-time links for setting a new password. */
import { hash } from 'node:crypto'

export const RECOVER = '/console/recover'

export const LINK_BYTES = 32

export const LINK_MINUTES = 30

/** The stored hash of a link's secret. */
export const hashLink = (secret: string): string =>
  hash('sha256', `agent-home recovery ${secret}`, 'hex')

export const linkTo = (base: string, secret: string): string => `${base}${RECOVER}?link=${secret}`
