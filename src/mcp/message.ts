/** An MCP message, as far as it is inspected before the SDK. */
import { z } from 'zod'
import { runName } from '../home/agent-run.ts'
import { type Place, placesOf } from '../json/members.ts'

/** One message; whether it is a request or a notification is left to the SDK. */
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
  /** The positions of its members in the source, and those of its params. */
  readonly members: ReadonlyMap<string, Place>
  readonly params: ReadonlyMap<string, Place>
}

const NO_MEMBERS: Message['params'] = new Map()

/** `source`: valid JSON. */
export function messageOf(body: Message['body'], source: string): Message {
  const members = placesOf(source)
  const at = members.get('params')?.from
  return { body, source, members, params: at === undefined ? NO_MEMBERS : placesOf(source, at) }
}

export const CALL_TOOL = 'tools/call'
export const LISTEN = 'subscriptions/listen'

/** The tool that a call names; undefined for other messages. */
export function toolNamed({ body: { method, params } }: Message): string | undefined {
  const name = params?.name
  return method === CALL_TOOL && typeof name === 'string' ? name : undefined
}

const envelope = z.object({
  _meta: z.object({ 'io.modelcontextprotocol/clientInfo': z.object({ name: z.string() }) }),
})

/** What a run of this client is called; undefined if its name cannot name one. */
export const runOfClient = (name: string | undefined): string | undefined =>
  runName.safeParse(name?.trim()).data

/** By the client's name, which calls of the 2026 protocol carry. */
export function clientIn({ body: { params } }: Message): string | undefined {
  const { data } = envelope.safeParse(params)
  return runOfClient(data?._meta['io.modelcontextprotocol/clientInfo'].name)
}

/** Requests for memories, as opposed to the protocol itself. */
export const isOfMemories = ({ body: { method } }: Message): boolean =>
  method === CALL_TOOL || method === LISTEN || /^resources\/(?:list|read)$/.test(method ?? '')
