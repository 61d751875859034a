/** The dependencies of the operations endpoints. */
import type { Config } from '../config.ts'
import type { ErrorCode } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'
import { tagged } from '../http/etag.ts'
import { lazily } from '../lazily.ts'
import type { OriginPolicy } from '../pipeline/origins.ts'
import { remembering } from '../pipeline/remember.ts'
import type { Signing } from '../pipeline/signing.ts'
import type { Store } from '../store/port/store.ts'
import type { Measures } from './metrics.ts'

/** Their tag in the OpenAPI document. */
export const tag = 'Operations'

interface Parts {
  readonly config: Config
  readonly store: Pick<Store, 'checkWritable'>
  readonly measures: Measures
  readonly origins: OriginPolicy
  /** The logo as SVG. */
  readonly icon: string
  /** The key that signs statements. */
  readonly signing: Signing
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** The OpenAPI document as JSON text. */
  readonly describe: (serverUrl: string) => string
  /** The page at /problems/<code> for browsers. */
  readonly showProblem: (call: Call, code: ErrorCode) => Answer | Promise<Answer>
}

/** However many ask, a health check costs one write per second. */
const READY_MS = 1_000

/** The mailbox that RFC 2142 reserves at every host. */
const securityMailbox = (publicUrl: string | undefined): string =>
  `mailto:security@${publicUrl ? new URL(publicUrl).hostname : 'localhost'}`

export function createOperations({ config, store, describe, ...own }: Parts) {
  const { clock } = own
  const { PUBLIC_URL: publicUrl, SECURITY_CONTACT } = config
  let accepting = true
  return {
    ...own,
    /** False as soon as the service starts draining. */
    accepting: (): boolean => accepting,
    becomeUnready(): void {
      accepting = false
    },
    /** Throws if the store could not commit a write at the last check, at most a second ago. */
    checkWritable: remembering(() => store.checkWritable(clock()), READY_MS, clock),
    metricsFrom: config.METRICS_FROM,
    /** The security contact, as a URI. */
    securityContact: SECURITY_CONTACT ?? securityMailbox(publicUrl),
    /** The public address, if configured. */
    publicUrl,
    openapi: lazily(() => tagged(describe(publicUrl ?? '/'))),
  }
}

export type Operations = ReturnType<typeof createOperations>
