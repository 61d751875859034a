/** GET /healthz and /readyz: health checks. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { json } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { VERSION } from '../version.ts'
import { type Operations, tag } from './operations.ts'

/** `version`: of the program. */
const state = z.object({ status: z.string(), version: z.string() }).meta({ id: 'Health' })

export const healthz = endpoint({
  operationId: 'healthz',
  method: 'GET',
  path: '/healthz',
  docs: { tag, summary: 'The process is alive' },
  guards: [],
  answers: {
    200: {
      description: 'The process is alive.',
      schema: state,
      example: { status: 'alive', version: VERSION },
    },
  },
  handle: ({ call }) => json(call, 200, { status: 'alive', version: VERSION }),
})

export const readyz = endpoint({
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  docs: { tag, summary: 'The store can write, and the process is not stopping' },
  guards: [],
  answers: {
    200: {
      description: 'The process is ready.',
      schema: state,
      example: { status: 'ready', version: VERSION },
    },
  },
  errors: [...WRITE_ERRORS, 'stopping'],
  async handle({ call }, operations: Operations) {
    if (!operations.accepting()) throw problem('stopping')
    await operations.checkWritable()
    return json(call, 200, { status: 'ready', version: VERSION })
  },
})
