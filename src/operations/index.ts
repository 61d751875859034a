/** Endpoints for those who run the service, and the documents about it. */
import type { BlockList } from 'node:net'
import { z } from '@hono/zod-openapi'
import { catalogue, type ErrorCode, problem } from '../errors.ts'
import { peerIsListed } from '../http/address.ts'
import { type Answer, answer, type Call, json } from '../http/call.ts'
import { prefersHtml } from '../http/negotiate.ts'
import type { Endpoint } from '../pipeline/endpoint.ts'
import { problemBody } from '../pipeline/problem.ts'
import type { Metrics } from './measures.ts'

export interface Operations {
  /** False from the first moment of draining. */
  readonly accepting: () => boolean
  /** Throws when the store cannot commit a write. */
  readonly checkWritable: () => Promise<void>
  readonly metrics: Metrics
  readonly metricsFrom: BlockList
  /** The OpenAPI document, as JSON text. */
  readonly openapi: () => string
  /** What a browser, which names text/html, gets at /problems/<code>. */
  readonly problemPage: (call: Call, code: ErrorCode) => Answer | Promise<Answer>
}

const tag = 'Operations'

const state = z.object({ status: z.string() }).openapi('Health')

const healthz: Endpoint<Operations> = {
  operationId: 'healthz',
  method: 'GET',
  path: '/healthz',
  docs: {
    tag,
    summary: 'The process is alive',
    responses: { 200: { description: 'Alive.', schema: state, example: { status: 'alive' } } },
    errors: [],
  },
  handle: (call) => json(call, 200, { status: 'alive' }),
}

const readyz: Endpoint<Operations> = {
  operationId: 'readyz',
  method: 'GET',
  path: '/readyz',
  docs: {
    tag,
    summary: 'The store can write, and the process is not stopping',
    responses: { 200: { description: 'Ready.', schema: state, example: { status: 'ready' } } },
    errors: ['storage_unavailable', 'stopping'],
  },
  async handle(call, operations) {
    if (!operations.accepting()) throw problem('stopping')
    await operations.checkWritable()
    return json(call, 200, { status: 'ready' })
  },
}

const metrics: Endpoint<Operations> = {
  operationId: 'metrics',
  method: 'GET',
  path: '/metrics',
  docs: {
    tag,
    summary: 'Prometheus metrics, for the addresses in METRICS_FROM',
    responses: {
      200: { description: 'Text exposition.', schema: z.string(), mediaType: 'text/plain' },
    },
    errors: ['address_denied', 'storage_unavailable'],
  },
  async handle(call, operations) {
    // A forwarded request came from elsewhere, whatever its peer's address says.
    const forwarded = call.requestHeaders['x-forwarded-for'] !== undefined
    if (forwarded || !peerIsListed(operations.metricsFrom, call)) throw problem('address_denied')
    const { text, contentType } = await operations.metrics.render()
    return answer(call, 200, text, contentType)
  },
}

const openapi: Endpoint<Operations> = {
  operationId: 'openapi',
  method: 'GET',
  path: '/openapi.json',
  docs: {
    tag,
    summary: 'This description',
    responses: {
      200: { description: 'OpenAPI 3.1.', schema: z.looseObject({ openapi: z.string() }) },
    },
    errors: [],
  },
  handle: (call, operations) => answer(call, 200, operations.openapi()),
}

const problemPage: Endpoint<Operations> = {
  operationId: 'problem',
  method: 'GET',
  path: '/problems/:code',
  docs: {
    tag,
    summary: 'What a problem code means',
    params: z.object({ code: z.string().openapi({ example: 'version_conflict' }) }),
    responses: {
      200: {
        description: 'The code, its status, and what to do.',
        schema: z.object({
          type: z.string(),
          code: z.string(),
          status: z.int(),
          title: z.string(),
          detail: z.string(),
        }),
        example: describe('version_conflict'),
      },
    },
    errors: ['not_found'],
  },
  handle(call, { problemPage: showPage }) {
    const code = codeOf(call)
    call.responseHeaders.Vary = 'Accept'
    return prefersHtml(call) ? showPage(call, code) : json(call, 200, describe(code))
  },
}

function codeOf(call: Call): ErrorCode {
  const code = call.path.slice('/problems/'.length)
  if (!Object.hasOwn(catalogue, code)) throw problem('not_found')
  return code as ErrorCode
}

function describe(code: ErrorCode) {
  const { instance: _, ...description } = problemBody(code, catalogue[code].detail, '')
  return description
}

export const operationsEndpoints = [healthz, readyz, metrics, openapi, problemPage] as const
