/**
 * A guard: a step in front of a handler. It refuses, by throwing a problem, or adds what it learnt
 * to the request's facts. Guards run in the order in which an endpoint lists them, and the types
 * hold the list to it: nobody may need a fact that no guard before has established.
 */
import type { ErrorCode, Problem } from '../errors.ts'
import type { Answer, Call } from '../http/call.ts'
import type { ResponseHeader } from './headers.ts'

/** What every guard may rely on. */
export interface Facts {
  readonly call: Call
  /** Reads the declared body, once; whoever asks first decides when. */
  readonly receive?: (() => Promise<Uint8Array>) | undefined
}

/** What a guard may leave for the end of the request. */
export interface Endings {
  /** How a refusal is answered from here on, instead of by a problem. */
  readonly again?: (refusal: Problem) => Promise<Answer>
  /** Called once, when the request is answered or refused. */
  readonly leave?: () => void
}

// biome-ignore lint/suspicious/noConfusingVoidType: a guard that learns nothing returns nothing.
type Learnable = object | void

export interface Guard<in Deps, in Needs extends object, out Adds extends Learnable> {
  /** Its name in tests and documents; each guard has its own. */
  readonly name: string
  /** What it can refuse a request for. */
  readonly errors: readonly ErrorCode[]
  /** Response headers that it can cause. */
  readonly headers?: readonly ResponseHeader[]
  /** The schemes of the OpenAPI document that satisfy it, any one of them. */
  readonly security?: readonly string[]
  /** Leaves something for the end of the request. */
  readonly ends?: boolean
  /** Answers OPTIONS for the paths that it guards: what a browser asks before it asks. */
  readonly preflight?: (call: Call, deps: Deps, allow: string) => Answer
  /** Puts its headers on any refusal of its path, one that came before it was asked included. */
  readonly onRefusal?: (call: Call) => void
  /** One that need not wait gives no promise. */
  readonly run: (request: Facts & Needs, deps: Deps) => Adds | Promise<Adds>
}

/** Any guard, where only what it declares matters. */
export type AnyGuard = Guard<never, never, Learnable>

type NeedsOf<G> = G extends Guard<never, infer Needs, Learnable> ? Needs : never

type AddsOf<G> =
  G extends Guard<never, never, infer Adds> ? (Adds extends object ? Adds : unknown) : never

/** What all of the guards together must be given to work with. */
export type DepsOf<Guards extends readonly AnyGuard[]> = [Guards[number]] extends [
  Guard<infer Deps, never, Learnable>,
]
  ? Deps
  : never

/** What is known once all of the guards have passed. */
export type Learnt<Guards extends readonly unknown[]> = Guards extends readonly [
  infer First,
  ...infer Rest,
]
  ? AddsOf<First> & Learnt<Rest>
  : unknown

/** The guards themselves where each finds what it needs; `never` in the place of one that does not. */
export type Ordered<Guards extends readonly unknown[], Known> = Guards extends readonly [
  infer First,
  ...infer Rest,
]
  ? Known extends NeedsOf<First>
    ? readonly [First, ...Ordered<Rest, Known & AddsOf<First>>]
    : readonly [never, ...Rest]
  : readonly []
