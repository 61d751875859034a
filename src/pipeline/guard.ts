/**
 * A guard is a step that runs before a handler. It throws a problem, or adds facts to the request.
 * Guards run in list order, and the types enforce that order: a guard may need only facts that an
 * earlier guard has established.
 */
import type { z } from 'zod'
import type { ErrorCode, Problem } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'

export const responseHeaders = {
  'Access-Control-Allow-Origin': 'The origins whose pages may read the response.',
  'Access-Control-Expose-Headers': 'The headers that those pages may read.',
  'Cache-Control': 'Who may cache the response, and for how long.',
  'Content-Encoding': 'gzip, if the client accepts it and the response is larger than 4 KB.',
  RateLimit: 'The remaining requests, and the seconds until the budget resets.',
  'RateLimit-Policy': 'The budget: its quota and its window in seconds.',
  'Retry-After': 'Seconds to wait before the next attempt.',
  Vary: 'The request headers that the response depends on.',
  'WWW-Authenticate': 'The challenge of RFC 6750.',
  'X-Content-Type-Options': 'nosniff: the declared media type is correct.',
  'X-Request-Id': 'The request id, also in the log and in the instance of a problem.',
} as const satisfies Readonly<Record<string, string>>

export type ResponseHeader = keyof typeof responseHeaders

/** The facts that exist before any guard runs. */
export interface Facts {
  readonly call: Call
  /** Reads the declared body once, on the first call. */
  readonly receive?: (() => Promise<Uint8Array>) | undefined
}

/** Callbacks that a guard may register for the end of the request. */
export interface Endings {
  /** How refusals are rendered from here on, instead of as problems. */
  readonly again?: (refusal: Problem) => Promise<Answer>
  /** Called once, when the request is answered or refused. */
  readonly leave?: () => void
}

// biome-ignore lint/suspicious/noConfusingVoidType: a guard that adds no facts returns nothing.
type Addable = object | void

export interface Guard<in Deps, in Needs extends object, out Adds extends Addable> {
  /** Its name in tests and documents; each guard has its own. */
  readonly name: string
  /** The errors that it can throw. */
  readonly errors: readonly ErrorCode[]
  /** Request headers that it reads and that are described nowhere else. */
  readonly accepts?: z.ZodObject
  /** Response headers that it can cause. */
  readonly headers?: readonly ResponseHeader[]
  /** The schemes of the OpenAPI document that satisfy it, any one of them. */
  readonly security?: readonly string[]
  /** Whether it registers callbacks for the end of the request. */
  readonly ends?: boolean
  /** Answers OPTIONS (CORS preflight) for the paths that it guards. */
  readonly preflight?: (call: Call, deps: Deps, allow: string) => Answer
  /** Sets its headers on every error of its path, including those thrown before it runs. */
  readonly onRefusal?: (call: Call) => void
  /** Returns a promise only if it has to wait. */
  readonly run: (request: Facts & Needs, deps: Deps) => Adds | Promise<Adds>
}

/** Any guard, where only what it declares matters. */
export type AnyGuard = Guard<never, never, Addable>

type NeedsOf<G> = G extends Guard<never, infer Needs, Addable> ? Needs : never

type AddsOf<G> =
  G extends Guard<never, never, infer Adds> ? (Adds extends object ? Adds : unknown) : never

/** The dependencies of all guards together. */
export type DepsOf<Guards extends readonly AnyGuard[]> = [Guards[number]] extends [
  Guard<infer Deps, never, Addable>,
]
  ? Deps
  : never

/** The facts that are known after all guards have passed. */
export type GuardContext<Guards extends readonly unknown[]> = Guards extends readonly [
  infer First,
  ...infer Rest,
]
  ? AddsOf<First> & GuardContext<Rest>
  : unknown

/** The list of guards, with `never` in place of a guard whose needs are not met. */
export type Ordered<Guards extends readonly unknown[], Known> = Guards extends readonly [
  infer First,
  ...infer Rest,
]
  ? Known extends NeedsOf<First>
    ? readonly [First, ...Ordered<Rest, Known & AddsOf<First>>]
    : readonly [never, ...Rest]
  : readonly []
