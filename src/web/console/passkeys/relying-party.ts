/** For which name browsers keep passkeys here: the one that people open the service by. */
import { isIP } from 'node:net'
import type { Call } from '../../../http/call.ts'
import type { Workspace } from '../workspace.ts'

/** A passkey is bound to the name, and each of its answers to the origin. */
export interface RelyingParty {
  readonly name: string
  readonly origin: string
}

export type Offered =
  | { readonly party: RelyingParty }
  /** Why not, as people read it. */
  | { readonly why: string }

const UNKNOWN =
  'Passkeys are not offered here: they belong to a name, and the service does not know the one that it was opened by. Its operator sets PUBLIC_URL.'
const ADDRESS =
  'Passkeys are not offered here: they belong to a name, and the service was opened by an IP address.'
const INSECURE =
  'Passkeys are not offered here: browsers have them over https alone, and on the machine itself as localhost.'

const isLocalhost = (name: string): boolean => /(^|\.)localhost$/.test(name)

export function offeredAt({ host }: Pick<Call, 'host'>, { origins }: Workspace): Offered {
  const url = URL.parse(origins.ownOrigin(host) ?? '')
  if (!url) return { why: UNKNOWN }
  const { hostname: name, origin, protocol } = url
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0) return { why: ADDRESS }
  if (protocol !== 'https:' && !isLocalhost(name)) return { why: INSECURE }
  return { party: { name, origin } }
}

/** Undefined where none are offered. */
export const partyAt = (call: Call, workspace: Workspace): RelyingParty | undefined => {
  const offered = offeredAt(call, workspace)
  return 'party' in offered ? offered.party : undefined
}
