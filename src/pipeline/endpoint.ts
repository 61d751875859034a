/** The declaration of an endpoint: its path, guards, schemas, answers and handler. */
import type { z } from 'zod'
import type { ErrorCode } from '../errors.ts'
import { type BodyStatuses, bodyErrors } from '../http/body.ts'
import type { Answer, Call } from '../http/call.ts'
import type { AnyGuard, DepsOf, Facts, GuardContext, Ordered } from './guard.ts'
import { type Handle, runner } from './run.ts'

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Documented {
  readonly description: string
  readonly schema?: z.ZodType
  readonly mediaType?: string
  /** Further text media types that the client may negotiate. */
  readonly texts?: readonly string[]
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

interface JsonBody<Schema extends z.ZodType> {
  readonly schema: Schema
  readonly example: unknown
  /** UTF-8 bytes of the body. */
  readonly maxBytes: number
  /** If they differ from our own operations' 415 and 413. */
  readonly statuses?: BodyStatuses
  /** What is validated, from the parsed body. Throws `invalid_body`. */
  readonly prepare?: (sent: unknown) => unknown
}

type Output<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined

/** What a handler receives: the facts that its guards established, and the validated input. */
export type Request<Guards extends readonly unknown[], Params, Query, Body> = Facts &
  GuardContext<Guards> & {
    readonly params: Output<Params>
    readonly query: Output<Query>
    readonly body: Output<Body>
    /** The raw JSON of the body, for parts that must be returned unchanged. */
    readonly source: Body extends z.ZodType ? string : undefined
  }

/** The part of a declaration besides its guards and handler. */
interface Described {
  /** Its name in metrics, logs and the OpenAPI document. */
  readonly operationId: string
  readonly method: Method
  /** `:name` is a parameter of one segment. */
  readonly path: string
  /** Another spelling of the path, which is not documented. */
  readonly alsoAt?: string
  /** Present if the endpoint is in the OpenAPI document; pages for people are not. */
  readonly docs?: {
    readonly tag: string
    readonly summary: string
    readonly description?: string
    /** Request headers. */
    readonly headers?: z.ZodObject
  }
  /** Schemas of path parameters; other values are `not_found`. */
  readonly params?: z.ZodObject
  readonly query?: z.ZodObject
  readonly body?: JsonBody<z.ZodType>
  /** A body that the handler reads as a stream, because it is too large for memory. */
  readonly upload?: Pick<JsonBody<z.ZodType>, 'schema' | 'example'> & {
    /** Defaults to JSON. */
    readonly mediaType?: string
  }
  /** Pages do not declare theirs. */
  readonly answers?: Readonly<Record<number, Documented>>
}

export interface Endpoint<in Deps> extends Described {
  readonly guards: readonly AnyGuard[]
  /** Every error that its guards, schemas and handler can raise. */
  readonly errors: readonly ErrorCode[]
  readonly serve: (call: Call, deps: Deps) => Answer | Promise<Answer>
  /** The handler without its guards, for tests that leave out a guard. */
  readonly handle: Handle
}

interface Declaration<
  Guards extends readonly AnyGuard[],
  Params extends z.ZodObject | undefined,
  Query extends z.ZodObject | undefined,
  Body extends z.ZodType | undefined,
  Deps,
> extends Described {
  readonly guards: Guards & Ordered<Guards, Facts & { readonly params: Output<Params> }>
  readonly params?: Params & z.ZodObject
  readonly query?: Query & z.ZodObject
  readonly body?: JsonBody<Body & z.ZodType>
  /** Besides those of its guards and schemas. */
  readonly errors?: readonly ErrorCode[]
  readonly handle: (
    request: Request<Guards, Params, Query, Body>,
    deps: Deps,
  ) => Answer | Promise<Answer>
}

/** A declaration with its type parameters erased. */
interface ErasedDeclaration extends Described {
  readonly guards: readonly AnyGuard[]
  readonly errors?: readonly ErrorCode[]
}

function errorsOf({ guards, params, query, body, upload, errors = [] }: ErasedDeclaration) {
  const found = new Set<ErrorCode>(guards.flatMap((guard) => guard.errors))
  if (params) found.add('not_found')
  if (query) found.add('invalid_query')
  if (body || (upload && upload.mediaType === undefined))
    for (const code of bodyErrors(body?.statuses)) found.add(code)
  return [...found.union(new Set(errors))]
}

/**
 * Guards run first, in order; then query and body are validated; then `handle` is called with the
 * results.
 */
export function endpoint<
  const Guards extends readonly AnyGuard[],
  Params extends z.ZodObject | undefined = undefined,
  Query extends z.ZodObject | undefined = undefined,
  Body extends z.ZodType | undefined = undefined,
  Deps = unknown,
>(declared: Declaration<Guards, Params, Query, Body, Deps>): Endpoint<Deps & DepsOf<Guards>> {
  const { handle: declaredHandle, ...described } = declared
  const handle = declaredHandle as unknown as Handle
  return { ...described, errors: errorsOf(described), serve: runner(described, handle), handle }
}
