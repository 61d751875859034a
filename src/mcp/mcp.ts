/** POST /mcp: the home's verbs as tools and its memories as resources. */
import { z } from 'zod'
import { entrance, noQuery } from '../home/guards.ts'
import type { Home } from '../home/home.ts'
import { memoryExample, tag } from '../home/schemas.ts'
import { lazily } from '../lazily.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import { clientOf } from '../pipeline/failures.ts'
import { bearer } from '../pipeline/guards/bearer.ts'
import { WRITE_ERRORS } from '../pipeline/problem.ts'
import { charged } from './charged.ts'
import { messageSchema } from './message.ts'

const answerSchema = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'McpAnswer', description: 'A JSON-RPC 2.0 response of the protocol.' })

/**
 * The SDK takes many megabytes, so it is loaded on first use; importing again would access files.
 */
const loaded = lazily(() => import('./exchange.ts'))

export const serveMcp = endpoint({
  operationId: 'serveMcp',
  method: 'POST',
  path: '/mcp',
  docs: {
    tag,
    summary: 'The Model Context Protocol (Streamable HTTP)',
    description:
      'One JSON-RPC message of MCP, of the 2026-07-28 revision or of those of 2025, without a session. The tools and resources are described by the protocol itself: tools/list.',
  },
  guards: [...entrance('reads'), bearer, charged],
  query: noQuery,
  upload: {
    schema: messageSchema,
    example: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_memory', arguments: { key: memoryExample.key } },
    },
  },
  answers: {
    200: {
      description: 'The response; of a subscription a stream of events.',
      schema: answerSchema,
      example: {
        jsonrpc: '2.0',
        id: 1,
        result: { content: [{ type: 'text', text: 'plan.current is saved as version 3.' }] },
      },
      headers: { 'X-Accel-Buffering': 'no: a stream is passed on at once.' },
    },
    202: { description: 'A notification was taken.' },
    404: { description: 'The protocol has no such method.', schema: answerSchema },
  },
  errors: [...WRITE_ERRORS, 'agent_paused', 'too_many_streams'],
  async handle({ call, identity, message, barred }, home: Home) {
    const { exchange } = await loaded()
    const client = clientOf(call, home)
    return exchange(call, { home, client, identity: { ...identity, via: 'mcp' }, message, barred })
  },
})
