/** What the endpoints of operations are given to work with. */
import type { BlockList } from 'node:net'
import type { Config } from '../config.ts'
import type { ErrorCode } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'
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
  /** The OpenAPI document, as JSON text. */
  readonly openapi: () => string
  /** What a browser, which names text/html, gets at /problems/<code>. */
  readonly showProblem: (call: Call, code: ErrorCode) => Answer | Promise<Answer>
}

interface Parts extends Pick<Operations, 'measures' | 'showProblem' | 'origins'> {
  readonly config: Config
  readonly store: Pick<Store, 'checkWritable'>
  readonly clock: () => number
  readonly describe: (serverUrl: string) => string
}

/** Whoever asks, however often: health costs one write a second. */
const READY_MS = 1_000

export function createOperations({ config, store, clock, describe, ...own }: Parts): Operations {
  let accepting = true
  let openapi: string | undefined
  return {
    ...own,
    accepting: () => accepting,
    stopAccepting() {
      accepting = false
    },
    checkWritable: remembering(() => store.checkWritable(clock()), READY_MS, clock),
    metricsFrom: config.METRICS_FROM,
    openapi() {
      openapi ??= describe(config.PUBLIC_URL ?? '/')
      return openapi
    },
  }
}
