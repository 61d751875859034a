/** A message of the protocol, as far as it is looked at before the protocol's own library is. */
import { z } from 'zod'
import { type Place, placesOf } from '../json/members.ts'

/** One message: what of it is a request, a notification or neither is for the library to tell. */
export const messageSchema = z
  .looseObject({
    jsonrpc: z.literal('2.0', 'must be "2.0"'),
    method: z.string().optional(),
    id: z.union([z.string(), z.number()]).optional(),
    params: z.looseObject({}, 'must be an object').optional(),
  })
  .meta({ id: 'McpMessage', description: 'One JSON-RPC 2.0 message of the protocol.' })

export interface Message {
  readonly body: z.output<typeof messageSchema>
  /** The JSON that was sent. */
  readonly source: string
  /** Where its members stand in the source, and those of its params. */
  readonly members: ReadonlyMap<string, Place>
  readonly params: ReadonlyMap<string, Place>
}

const NO_MEMBERS: Message['params'] = new Map()

/** `source`: the JSON that was sent, valid. */
export function messageOf(body: Message['body'], source: string): Message {
  const members = placesOf(source)
  const at = members.get('params')?.from
  return { body, source, members, params: at === undefined ? NO_MEMBERS : placesOf(source, at) }
}

export const CALL_TOOL = 'tools/call'
export const LISTEN = 'subscriptions/listen'

/** The tool that a call names; undefined of any other message. */
export function toolNamed({ body: { method, params } }: Message): string | undefined {
  const name = params?.name
  return method === CALL_TOOL && typeof name === 'string' ? name : undefined
}

/** What a tool is called with, as it was read strictly, and as it was written. */
export function argumentsOf({ body, source, params }: Message) {
  const place = params.get('arguments')
  return {
    value: body.params?.arguments ?? {},
    source: place ? source.slice(place.from, place.to) : '{}',
  }
}

/** Requests that reach what the agent keeps; the rest is about the protocol alone. */
export const isOfMemories = ({ body: { method } }: Message): boolean =>
  method === CALL_TOOL || method === LISTEN || /^resources\/(?:list|read)$/.test(method ?? '')
