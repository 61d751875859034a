/**
 * The declaration of a verb that changes one memory. Its endpoint, its batch operation and its MCP
 * tool derive from it.
 */
import { z } from 'zod'
import { type ErrorCode, problem } from '../../errors.ts'
import type { BodyStatuses } from '../../http/body.ts'
import type { Call } from '../../http/call.ts'
import { agreesWith } from '../../http/etag.ts'
import { type Documented, type Endpoint, endpoint } from '../../pipeline/endpoint.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { Change, Result } from '../../store/port/memories.ts'
import { newId } from '../../uuid.ts'
import { appendKeyHeader, onceBy, optionalKeyIn } from '../birth-key.ts'
import { forAgents, noQuery } from '../guards.ts'
import type { Home } from '../home.ts'
import { body } from '../limits.ts'
import { tag } from '../schemas.ts'
import {
  appendOnce,
  CHANGE_ERRORS,
  conflictAnswer,
  ifMatch,
  makeChange,
  missingAnswer,
  onceSavedAnswer,
  PRECONDITION,
  prefer,
  type Saved,
  savedAnswer,
  saveWrite,
  showSaved,
} from './answers.ts'
import { measured } from './content.ts'

/** The time of a change, and ids for the memories that it creates. */
export interface WriteContext {
  readonly now: number
  readonly newId: () => string
}

/** Now. */
export function writeContext({ clock, random }: Pick<Home, 'clock' | 'random'>): WriteContext {
  const now = clock()
  return { now, newId: () => newId(now, random) }
}

/** A verb's MCP tool. `Sent`: what its schema accepts. */
interface ToolText<Sent> {
  readonly name: string
  readonly title: string
  readonly description: string
  /** Called again with the same arguments, it changes nothing more. */
  readonly idempotent: boolean
  /** Instead of the verb's own, if the tool differs from the HTTP endpoint. */
  readonly schema?: z.ZodType
  readonly change?: (sent: Sent, source: string, context: WriteContext) => Change
}

export interface MemoryVerb<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema
  /** `source`: the validated JSON as it was sent. Sizes are checked afterwards. */
  readonly change: (sent: z.output<Schema>, source: string, context: WriteContext) => Change
  /** Besides those of every change. */
  readonly errors: readonly ErrorCode[]
  /** May be sent with an Idempotency-Key. */
  readonly once?: true
  readonly tool?: ToolText<z.output<Schema>>
}

/** `key`: an Idempotency-Key. Makes the change. Throws size errors, and the problem of a refused change. */
export async function carryOut<Schema extends z.ZodType>(
  { change }: MemoryVerb<Schema>,
  home: Home,
  identity: Identity,
  sent: z.output<Schema>,
  source: string,
  key?: string,
): Promise<Result | Saved> {
  const context = writeContext(home)
  const made = measured(change(sent, source, context))
  if (made.verb === 'append' && key !== undefined) {
    return appendOnce(
      home,
      identity,
      made,
      onceBy(identity, key, JSON.stringify(sent)),
      context.now,
    )
  }
  if (made.verb !== 'write') return makeChange(home, identity, made, context.now)
  return { outcome: 'saved', memory: await saveWrite(home, identity, made, context.now) }
}

/** The saved memory, of a verb that saves one. */
export function savedBy(result: Result | Saved): Saved {
  if (result.outcome === 'saved' || result.outcome === 'repeated') return result
  throw new Error(`a change that saves was answered by ${result.outcome}`)
}

/** If-Match beside a body must name the version that the body expects. */
export function requireAgreement(call: Call, expectedVersion: number | undefined): void {
  if (!agreesWith(call, expectedVersion ?? Number.NaN)) throw problem('precondition_mismatch')
}

type Expecting = z.ZodType<{ readonly expectedVersion?: number | undefined }>

interface EndpointText<Sent> {
  readonly operationId: string
  readonly method: 'POST' | 'PATCH'
  readonly path: `/${string}`
  readonly summary: string
  readonly description?: string
  readonly example: Sent
  readonly statuses?: BodyStatuses
  /** The 409, if it tells more than a conflict of versions. */
  readonly conflict?: Documented
  /** The 413, if it tells how full the memory is. */
  readonly tooLarge?: Documented
}

/** The endpoint of a verb that saves a memory. */
export function savingEndpoint<Schema extends Expecting>(
  verb: MemoryVerb<Schema>,
  {
    summary,
    description,
    example,
    statuses,
    conflict = conflictAnswer,
    tooLarge,
    ...route
  }: EndpointText<z.input<Schema>>,
): Endpoint<Home> {
  const schema: Expecting = verb.schema
  return endpoint({
    ...route,
    docs: {
      tag,
      summary,
      description: [description, PRECONDITION].filter(Boolean).join(' '),
      headers: z.object({ ...ifMatch, ...prefer, ...(verb.once && appendKeyHeader) }),
    },
    guards: forAgents('writes'),
    query: noQuery,
    body: { schema, maxBytes: body.maxBytes, example, ...(statuses && { statuses }) },
    answers: {
      200: verb.once ? onceSavedAnswer : savedAnswer,
      ...(verb.errors.includes('memory_not_found') && { 404: missingAnswer }),
      409: conflict,
      ...(tooLarge && { 413: tooLarge }),
    },
    errors: [...CHANGE_ERRORS, 'precondition_mismatch', ...verb.errors],
    async handle({ call, identity, body, source }, home: Home) {
      requireAgreement(call, body.expectedVersion)
      const key = verb.once && optionalKeyIn(call)
      const result = await carryOut(verb as MemoryVerb, home, identity, body, source, key)
      return showSaved(call, savedBy(result))
    },
  })
}
