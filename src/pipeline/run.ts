/** Runs a declared request: guards, validation, handler. */
import type { z } from 'zod'
import { Problem, problem } from '../errors.ts'
import { readJsonBytes } from '../http/body.ts'
import type { Answer, Call } from '../http/call.ts'
import { decodeJson, parseStrictJson } from '../http/json.ts'
import { lazily } from '../lazily.ts'
import type { Endpoint } from './endpoint.ts'
import type { Endings, Facts } from './guard.ts'
import { noteRefusal } from './problem.ts'
import { validateBody, validateQuery } from './validate.ts'

/** The facts so far; the declaration's types say which are there when. */
type Running = Facts & Endings

/** The part of a declaration that is needed to run it. */
type Runnable = Pick<Endpoint<never>, 'params' | 'guards' | 'query' | 'body'>

type Added = Partial<Record<string, unknown>> | undefined

interface Step {
  readonly run: (request: Running, deps: unknown) => Added | Promise<Added>
}

export type Handle = (request: Running, deps: unknown) => Answer | Promise<Answer>

const paramsStep = (schema: z.ZodObject): Step => ({
  run({ call }) {
    const parsed = schema.safeParse(call.params)
    if (!parsed.success) throw problem('not_found')
    return { params: parsed.data }
  },
})

const queryStep = (schema: z.ZodObject): Step => ({
  run: ({ call }) => ({ query: validateQuery(schema, call) }),
})

const bodyStep = ({ schema, prepare }: NonNullable<Runnable['body']>): Step => ({
  async run({ receive }) {
    const bytes = await receive?.()
    if (!bytes) return undefined
    const source = decodeJson(bytes)
    const value = parseStrictJson(source)
    return { source, body: validateBody(schema, prepare ? prepare(value) : value) }
  },
})

const stepsOf = ({ params, guards, query, body }: Runnable): readonly Step[] => [
  ...(params ? [paramsStep(params)] : []),
  // The declaration's types guarantee the guards' order and needs.
  ...(guards as readonly unknown[] as readonly Step[]),
  ...(query ? [queryStep(query)] : []),
  ...(body ? [bodyStep(body)] : []),
]

const begin = (call: Call, { body }: Runnable): Running =>
  body
    ? { call, receive: lazily(() => readJsonBytes(call, body.maxBytes, body.statuses)) }
    : { call }

/** Renders a refusal as a guard has requested, if one did. */
function endWell(request: Running, error: unknown): Promise<Answer> {
  if (!request.again || !(error instanceof Problem) || error.status >= 500) throw error
  noteRefusal(request.call, error)
  return request.again(error)
}

/** Creates promises only if a step waits. */
export function runner(declared: Runnable, handle: Handle) {
  const steps = stepsOf(declared)

  function go(request: Running, deps: unknown, from: number): Answer | Promise<Answer> {
    for (let at = from; at < steps.length; at++) {
      const added = steps[at]?.run(request, deps)
      if (added instanceof Promise) {
        return added.then((later) => go(Object.assign(request, later), deps, at + 1))
      }
      Object.assign(request, added)
    }
    return handle(request, deps)
  }

  async function goToItsEnd(request: Running, deps: unknown): Promise<Answer> {
    try {
      return await go(request, deps, 0)
    } catch (error) {
      return await endWell(request, error)
    } finally {
      request.leave?.()
    }
  }

  const ends = declared.guards.some((guard) => guard.ends)
  return (call: Call, deps: unknown): Answer | Promise<Answer> =>
    ends ? goToItsEnd(begin(call, declared), deps) : go(begin(call, declared), deps, 0)
}
