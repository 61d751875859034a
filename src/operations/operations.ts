/** The dependencies of the operations endpoints. */
import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import type { ErrorCode } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'
import { type Tagged, tagged } from '../http/etag.ts'
import { lazily } from '../lazily.ts'
import type { OriginPolicy } from '../pipeline/origins.ts'
import { remembering } from '../pipeline/remember.ts'
import type { Store } from '../store/port/store.ts'
import type { Measures } from './measures.ts'

/** Their part of the OpenAPI document. */
export const tag = 'Operations'

export interface Operations {
  /** False from the first moment of draining. */
  readonly accepting: () => boolean
  readonly stopAccepting: () => void
  /** Throws when the store could not commit a write when it was last asked, a second ago at most. */
  readonly checkWritable: () => Promise<void>
  readonly measures: Measures
  readonly metricsFrom: BlockList
  readonly origins: OriginPolicy
  /** The OpenAPI document, as JSON text that never changes. */
  readonly openapi: () => Tagged
  /** Whom to tell of a weakness: a URI. */
  readonly securityContact: string
  /** The address that people use, if it is known. */
  readonly publicUrl: string | undefined
  /** The sign of the service, as SVG. */
  readonly icon: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** What a browser, which names text/html, gets at /problems/<code>. */
  readonly showProblem: (call: Call, code: ErrorCode) => Answer | Promise<Answer>
}

interface Parts
  extends Pick<Operations, 'measures' | 'showProblem' | 'origins' | 'icon' | 'clock'> {
  readonly config: Config
  readonly store: Pick<Store, 'checkWritable'>
  readonly describe: (serverUrl: string) => string
}

/** Whoever asks, however often: health costs one write a second. */
const READY_MS = 1_000

/** Mail that RFC 2142 has somebody read at every host. */
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
