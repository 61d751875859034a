/** The dependencies of the operations endpoints. */
import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import type { ErrorCode } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'
import { type Tagged, tagged } from '../http/etag.ts'
import { lazily } from '../lazily.ts'
import type { OriginPolicy } from '../pipeline/origins.ts'
import { remembering } from '../pipeline/remember.ts'
import type { Signing } from '../pipeline/signing.ts'
import type { Store } from '../store/port/store.ts'
import type { Measures } from './measures.ts'

/** Their tag in the OpenAPI document. */
export const tag = 'Operations'

export interface Operations {
  /** False as soon as the service starts draining. */
  readonly accepting: () => boolean
  readonly stopAccepting: () => void
  /** Throws if the store could not commit a write at the last check, at most a second ago. */
  readonly checkWritable: () => Promise<void>
  readonly measures: Measures
  readonly metricsFrom: BlockList
  readonly origins: OriginPolicy
  /** The OpenAPI document as constant JSON text. */
  readonly openapi: () => Tagged
  /** The security contact, as a URI. */
  readonly securityContact: string
  /** The public address, if configured. */
  readonly publicUrl: string | undefined
  /** The logo as SVG. */
  readonly icon: string
  /** The key that signs statements. */
  readonly signing: Signing
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The page at /problems/<code> for browsers. */
  readonly showProblem: (call: Call, code: ErrorCode) => Answer | Promise<Answer>
}

interface Parts
  extends Pick<Operations, 'measures' | 'showProblem' | 'origins' | 'icon' | 'signing' | 'clock'> {
  readonly config: Config
  readonly store: Pick<Store, 'checkWritable'>
  readonly describe: (serverUrl: string) => string
}

/** However many ask, a health check costs one write per second. */
const READY_MS = 1_000

/** The mailbox that RFC 2142 reserves at every host. */
const securityMailbox = (publicUrl: string | undefined): string =>
  `mailto:security@${publicUrl ? new URL(publicUrl).hostname : 'localhost'}`

export function createOperations({ config, store, describe, ...own }: Parts): Operations {
  const { clock } = own
  const { PUBLIC_URL: publicUrl, SECURITY_CONTACT } = config
  let accepting = true
  return {
    ...own,
    accepting: () => accepting,
    stopAccepting() {
      accepting = false
    },
    checkWritable: remembering(() => store.checkWritable(clock()), READY_MS, clock),
    metricsFrom: config.METRICS_FROM,
    securityContact: SECURITY_CONTACT ?? securityMailbox(publicUrl),
    publicUrl,
    openapi: lazily(() => tagged(describe(publicUrl ?? '/'))),
  }
}
