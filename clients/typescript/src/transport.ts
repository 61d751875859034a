/** One question and its answer: asked again where that is safe, and honest where it is not. */
import { jsonIn, refusalIn } from './answer.ts'
import { backoff, type Deadline, deadlineWith, wait } from './deadline.ts'
import { HomeError, OutcomeUnknown } from './errors.ts'
import { isLoopback, withoutProxy } from './loopback.ts'
import type { Preview } from './wire.ts'

export interface TransportOptions {
  /** Where the home is, such as `http://127.0.0.1:8787`; AGENT_HOME_URL unless told. */
  readonly url?: string | URL | undefined
  /** `fetch` of the platform unless told. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds that one try may take: 15000 unless told. */
  readonly timeout?: number | undefined
  /** How often a question is repeated, where that is safe: 4 unless told. */
  readonly retries?: number | undefined
  /** The longest Retry-After that is waited for, in milliseconds: 60000 unless told. */
  readonly maxWait?: number | undefined
  /** Called before each wait for another try: 429 and 503 may take seconds. */
  readonly onRetry?: ((retry: Retry) => void) | undefined
}

export interface Retry {
  /** Why it is asked again. */
  readonly error: HomeError
  /** Milliseconds until then. */
  readonly waitMs: number
  /** 1 before the second try. */
  readonly tries: number
}

export interface CallOptions {
  /** Ends the call: it rejects with the signal's reason. A change may have been made by then. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds that one try of this call may take. */
  readonly timeout?: number | undefined
  /** Called with each response, for its status and its headers: its body is read by the client. */
  readonly response?: ((response: Response) => void) | undefined
}

/** What became of a change whose answer was lost, where a later refusal lets it be found out. */
export type Settled<T> = { readonly made: T } | 'not made' | 'unknown'

export interface Ask<T> extends CallOptions {
  /** GET unless told. */
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below /api/agents. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. */
  readonly body?: object
  /** Sent as it is, JSON already. */
  readonly upload?: string | Blob | ReadableStream<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** It changes nothing, whatever its method. */
  readonly reads?: boolean | undefined
  /** Repeated it would be made twice: it is not, once it may have arrived. */
  readonly once?: boolean
  /** But it is repeated after all where the home knows the Idempotency-Key of an append. */
  readonly keyed?: boolean
  /** Can be sent only once: a stream that was read is gone. */
  readonly spent?: boolean
  /** Asked when a refusal follows a lost answer. */
  readonly settle?: (refusal: HomeError) => Promise<Settled<T>>
  /** Reads a success; ends the deadline when all is read. A JSON body unless told. */
  readonly take?: (response: Response, deadline: Deadline) => Promise<T>
}

type Outcome<T> =
  | { readonly kind: 'answered'; readonly value: T }
  | { readonly kind: 'refused'; readonly error: HomeError }
  /** It never left, so it did nothing. */
  | { readonly kind: 'unsent'; readonly error: HomeError }
  | { readonly kind: 'lost'; readonly error: HomeError }

const TIMEOUT_MS = 15_000
const RETRIES = 4
const MAX_WAIT_MS = 60_000
const BACKOFF = { first: 200, most: 5_000 }

/** Codes under which no connection was made, in Node.js and Bun; elsewhere it is not told apart. */
const NEVER_SENT = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ConnectionRefused)$/

const codeIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'code' in value ? value.code : undefined

const wasNeverSent = (cause: unknown): boolean =>
  [cause, cause instanceof Error && cause.cause].some((each) =>
    NEVER_SENT.test(String(codeIn(each) ?? '')),
  )

const NO_KEYS = new HomeError({
  ...{ status: 0, code: 'no_answer' },
  detail: 'The home did not answer, and it is too old to be asked again.',
})

const noAnswer = (cause: unknown, detail: string): HomeError =>
  new HomeError({ status: 0, code: 'no_answer', detail }, { cause })

function failed<T>(cause: unknown): Outcome<T> {
  if (cause instanceof HomeError) return { kind: 'refused', error: cause }
  if (wasNeverSent(cause)) {
    return { kind: 'unsent', error: noAnswer(cause, 'There is no answer from this address.') }
  }
  return { kind: 'lost', error: noAnswer(cause, 'The home did not answer.') }
}

/** The home says so, or a proxy before it that cannot know. */
const mayHaveHappened = ({ code }: HomeError): boolean =>
  /^(outcome_unknown|http_50[234])$/.test(code)

/** Refusals that time heals: room for more is not made by waiting. */
const passes = ({ status, code }: HomeError): boolean =>
  (status === 429 || status === 503) && !code.endsWith('_quota_reached')

/** Of this package. */
export const VERSION = '2.0.0'

/** A page may not say what its browser is. */
const userAgent = (): Readonly<Record<string, string>> =>
  'document' in globalThis ? {} : { 'user-agent': `agent-home-client/${VERSION}` }

/** The environment, where there is one. */
export const settings = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}

function addressOf(url: string | URL | undefined): string {
  if (!url) throw new TypeError('url is missing: pass it, or set AGENT_HOME_URL')
  if (!URL.canParse(url))
    throw new TypeError('url must be an address, such as https://home.example')
  const { protocol, username, password, origin, pathname } = new URL(url)
  if (!/^https?:$/.test(protocol)) throw new TypeError('url must be http or https')
  if (username || password) throw new TypeError('url must hold no credentials')
  return origin + pathname.replace(/\/+$/, '')
}

/** A header with anything else in it would be quoted in the platform's error. */
function requireToken(token: string): string {
  if (/^[\x21-\x7e]*$/.test(token)) return token
  throw new TypeError('token must be visible ASCII characters alone')
}

const RUN = /^[^\p{C}\p{Zl}\p{Zp}]{1,80}$/u

/** The bytes of a header are given as Latin-1. '' if none is told. */
function runHeader(run: string): string {
  const told = run.trim()
  if (told !== '' && !RUN.test(told))
    throw new TypeError('run must have 1 to 80 visible characters')
  return String.fromCharCode(...new TextEncoder().encode(told))
}

/** The platform's error would quote the value, which may be a secret. */
function requireHeaders(headers: Readonly<Record<string, string>>): void {
  try {
    new Headers(headers)
  } catch {
    throw new TypeError('the value cannot be sent in a header')
  }
}

export class Transport {
  readonly #address: string
  readonly #isLoopback: boolean
  readonly #token: string
  readonly #run: string
  readonly #fetch: typeof globalThis.fetch
  readonly #timeout: number
  readonly #retries: number
  readonly #maxWait: number
  readonly #onRetry: TransportOptions['onRetry']
  /** Runs before the first call, and before the next ones until it is true. */
  #wake: (() => Promise<boolean>) | undefined
  #waking: Promise<boolean> | undefined
  /** Whether the home knows the Idempotency-Key of an append: asked once an answer was lost. */
  #knowsKeys: boolean | undefined

  /** Throws TypeError. `token` and `run`: '' where none is sent. */
  constructor(options: TransportOptions, token: string, run = '') {
    this.#address = addressOf(options.url ?? settings().AGENT_HOME_URL)
    this.#isLoopback = isLoopback(this.#address)
    this.#token = requireToken(token)
    this.#run = runHeader(run)
    this.#fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
    this.#timeout = options.timeout ?? TIMEOUT_MS
    this.#retries = options.retries ?? RETRIES
    this.#maxWait = options.maxWait ?? MAX_WAIT_MS
    this.#onRetry = options.onRetry
  }

  /** `wake` uses `askNow`; what it throws, every call throws until it passes. */
  beforeFirst(wake: () => Promise<boolean>): void {
    this.#wake = wake
  }

  /** Throws HomeError, OutcomeUnknown, or the reason of the caller's signal. */
  async ask<T>(ask: Ask<T>): Promise<T> {
    if (this.#wake) {
      this.#waking ??= this.#wake().finally(() => {
        this.#waking = undefined
      })
      if (await this.#waking) this.#wake = undefined
    }
    return this.askNow(ask)
  }

  async askNow<T>(ask: Ask<T>): Promise<T> {
    let isLost = false
    for (let tries = 0; ; tries++) {
      const outcome: Outcome<T> = await (isLost && ask.keyed
        ? this.#attemptAgain(ask)
        : this.#attempt(ask))
      if (outcome.kind === 'answered') return outcome.value
      isLost ||= outcome.kind === 'lost'
      const pause = tries < this.#retries ? this.#pauseAfter(ask, outcome, tries) : undefined
      if (pause === undefined) return conclude(ask, outcome, isLost)
      this.#onRetry?.({ error: outcome.error, waitMs: pause, tries: tries + 1 })
      await wait(pause, ask.signal)
    }
  }

  /** Homes before 2.1 would append again. */
  async #attemptAgain<T>(ask: Ask<T>): Promise<Outcome<T>> {
    if (this.#knowsKeys === undefined) {
      const { signal } = ask
      const found = await this.#attempt<Preview>({ path: '/preview', signal })
      if (found.kind !== 'answered') return found
      this.#knowsKeys = found.value.limits?.appendKeys !== undefined
    }
    return this.#knowsKeys ? this.#attempt(ask) : { kind: 'refused', error: NO_KEYS }
  }

  /** Undefined: it is not asked again. */
  #pauseAfter<T>(ask: Ask<T>, outcome: Outcome<T>, tries: number): number | undefined {
    if (ask.spent || outcome.kind === 'answered') return undefined
    if (outcome.kind === 'lost') {
      return ask.once && !ask.keyed ? undefined : backoff(tries, BACKOFF)
    }
    if (outcome.kind === 'unsent') return backoff(tries, BACKOFF)
    const { error } = outcome
    if (!passes(error) || error.retryAfter === undefined) return undefined
    const ms = error.retryAfter * 1000
    // Those who were told the same second do not come back in the same moment.
    return ms <= this.#maxWait ? ms + backoff(0, BACKOFF) : undefined
  }

  async #attempt<T>(ask: Ask<T>): Promise<Outcome<T>> {
    ask.signal?.throwIfAborted()
    // What cannot be written was never sent: its error is the caller's own.
    const [url, request] = [this.#urlOf(ask), this.#requestOf(ask)]
    const deadline = deadlineWith(ask.signal)
    deadline.start(ask.timeout ?? this.#timeout)
    try {
      const response = await this.#fetch(url, { ...request, signal: deadline.signal })
      ask.response?.(response)
      if (response.ok) return { kind: 'answered', value: await take(ask, response, deadline) }
      const error = await refusalIn(response, this.#token)
      deadline.end()
      return { kind: mayHaveHappened(error) ? 'lost' : 'refused', error }
    } catch (error) {
      const cause = deadline.signal.aborted ? deadline.signal.reason : error
      deadline.end()
      ask.signal?.throwIfAborted()
      return failed(cause)
    }
  }

  #urlOf({ path, query = {} }: Ask<unknown>): string {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
    return `${this.#address}/api/agents${path}${search.size > 0 ? `?${search}` : ''}`
  }

  #requestOf({ method = 'GET', body, upload, headers }: Ask<unknown>) {
    const sent = upload ?? (body && JSON.stringify(body))
    if (headers) requireHeaders(headers)
    return {
      ...(this.#isLoopback && withoutProxy()),
      method,
      // A token goes to nobody else, and cookies are not ours to send.
      redirect: 'manual' as const,
      credentials: 'omit' as const,
      headers: {
        ...userAgent(),
        ...(this.#token !== '' && { authorization: `Bearer ${this.#token}` }),
        ...(this.#run !== '' && { 'agent-run': this.#run }),
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: sent }),
      ...(upload instanceof ReadableStream && { duplex: 'half' as const }),
    }
  }
}

async function take<T>(ask: Ask<T>, response: Response, deadline: Deadline): Promise<T> {
  if (ask.take) return ask.take(response, deadline)
  const value = await jsonIn<T>(response)
  deadline.end()
  return value
}

type Failure = Exclude<Outcome<never>, { kind: 'answered' }>

/** What the caller is told in the end. `isLost`: an answer was lost on the way. */
async function conclude<T>(ask: Ask<T>, { kind, error }: Failure, isLost: boolean): Promise<T> {
  const isChange = (ask.method ?? 'GET') !== 'GET' && !ask.reads
  if (!isLost || !isChange) throw error
  const settled =
    kind === 'refused' ? await ask.settle?.(error).catch(() => 'unknown' as const) : 'unknown'
  ask.signal?.throwIfAborted()
  if (settled === 'not made') throw error
  if (typeof settled === 'object') return settled.made
  throw new OutcomeUnknown(error)
}
