/** GET /openapi.json and /problems/<code>: the documents of the service. */
import { z } from 'zod'
import { catalogue, type ErrorCode, problem } from '../errors.ts'
import { json } from '../http/call.ts'
import { answerTagged } from '../http/etag.ts'
import { prefersHtml, varyBy } from '../http/negotiate.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { openToAll } from '../pipeline/guards/origin.ts'
import { problemBody } from '../pipeline/problem.ts'
import { type Operations, tag } from './operations.ts'

export const openapi = endpoint({
  operationId: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  docs: { tag, summary: 'The OpenAPI description' },
  guards: [openToAll],
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      schema: z.looseObject({ openapi: z.string() }),
      headers: { ETag: 'Changes when the description changes.' },
    },
    304: {
      description: 'The description has not changed since the version in If-None-Match.',
      headers: { ETag: 'Changes when the description changes.' },
    },
  },
  handle: ({ call }, operations: Operations) => answerTagged(call, operations.openapi()),
})

const isCode = (name: string): name is ErrorCode => Object.hasOwn(catalogue, name)

function describe(code: ErrorCode) {
  const { instance: _, ...description } = problemBody(code, catalogue[code].detail, '')
  return description
}

export const problemPage = endpoint({
  operationId: 'problem',
  method: 'GET',
  path: '/problems/:code',
  docs: { tag, summary: 'What an error code means' },
  params: z.object({ code: z.string().meta({ example: 'version_conflict' }) }),
  guards: [],
  answers: {
    200: {
      description: 'The code, its status, and what to do about it.',
      schema: z.object({
        type: z.string(),
        code: z.string(),
        status: z.int(),
        title: z.string(),
        detail: z.string(),
      }),
      example: describe('version_conflict'),
      headers: { Vary: 'Accept: a browser, which accepts text/html, gets a page.' },
    },
  },
  errors: ['not_found'],
  handle({ call, params: { code } }, { showProblem }: Operations) {
    if (!isCode(code)) throw problem('not_found')
    varyBy(call, 'Accept')
    return prefersHtml(call) ? showProblem(call, code) : json(call, 200, describe(code))
  },
})
