/** A message of the protocol, as far as it is looked at before the protocol's own library is. */
import { z } from 'zod'
import { membersOf } from '../json/members.ts'

/** One message: what of it is a request, a notification or neither is for the library to tell. */
export const messageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0', 'must be "2.0"'),
    method: z.string().optional(),
    id: z.union([z.string(), z.number()]).optional(),
    params: z.looseObject({}, 'must be an object').optional(),
  })
  .meta({ id: 'McpMessage', description: 'One JSON-RPC 2.0 message of the protocol.' })

type Written = ReadonlyMap<string, string>

export interface Message {
  readonly body: z.output<typeof messageSchema>
  /** Its members as they were sent, and those of its params: JSON by name. */
  readonly written: Written
  readonly writtenParams: Written
}

/** `source`: the JSON that was sent, valid. */
export function messageOf(body: Message['body'], source: string): Message {
  const written = membersOf(source)
  return { body, written, writtenParams: membersOf(written.get('params') ?? '') }
}

export const CALL_TOOL = 'tools/call'
export const LISTEN = 'subscriptions/listen'

/** The tool that a call names; undefined of any other message. */
export function toolNamed({ body: { method, params } }: Message): string | undefined {
  const name = params?.name
  return method === CALL_TOOL && typeof name === 'string' ? name : undefined
}

/** What a tool is called with, as it was read strictly, and as it was written. */
export const argumentsOf = ({ body: { params }, writtenParams }: Message) => ({
  value: params?.arguments ?? {},
  source: writtenParams.get('arguments') ?? '{}',
})

/** Requests that reach what the agent keeps; the rest is about the protocol alone. */
export const isOfMemories = ({ body: { method } }: Message): boolean =>
  method === CALL_TOOL || method === LISTEN || /^resources\/(?:list|read)$/.test(method ?? '')
