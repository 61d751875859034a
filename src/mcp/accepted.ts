/**
 * The calls of one client differ in their id and arguments alone. What else they hold was judged by
 * the protocol's library when it came first, and the library's judgement costs several times what a
 * read does (`bench/mcp.ts`): so what it accepted once is remembered, and not asked again.
 */
import type { Call } from '../http/call.ts'
import type { Place } from '../json/members.ts'
import { type Message, toolNamed } from './message.ts'

/** What the library looks at beside the message. */
export const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/** Each of at most so many characters: a client that sends others is answered by the library. */
const MOST_KEPT = 256
const LONGEST = 2_048

/** What is in an answer besides our own: JSON, from the comma before it. */
const additions = new Map<string, string>()

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id)

/** The message without its id and its tool's arguments: no other JSON lacks a value there. */
function letterOf({ source }: Message, id: Place, args: Place): string {
  const [first, second] = id.from < args.from ? [id, args] : [args, id]
  const between = source.slice(first.to, second.from)
  return source.slice(0, first.from) + between + source.slice(second.to)
}

/** Everything that a call may be refused for, but its tool's arguments; undefined of other messages. */
export function envelopeOf({ requestHeaders }: Call, message: Message): string | undefined {
  const { body, members, params } = message
  const id = members.get('id')
  const args = params.get('arguments')
  if (!id || !args || toolNamed(message) === undefined) return undefined
  if (!isId(body.id) || !isObject(body.params?.arguments)) return undefined
  let envelope = letterOf(message, id, args)
  for (const name of HEADERS) envelope += `\n${requestHeaders[name] ?? ''}`
  return envelope.length > LONGEST ? undefined : envelope
}

/** Undefined where the library has not accepted such a call yet. */
export const additionsTo = (envelope: string): string | undefined => additions.get(envelope)

/** What a tool's result is made of; the library adds the rest. */
const OWN = ['content', 'structuredContent', 'isError']

/** `answered`: what the library made of a call. Only a result says that it accepted the call. */
export function remember(envelope: string, answered: string): void {
  const { result } = JSON.parse(answered)
  if (!isObject(result)) return
  const others = Object.entries(result).filter(([name]) => !OWN.includes(name))
  const [oldest] = additions.keys()
  if (additions.size >= MOST_KEPT && oldest !== undefined) additions.delete(oldest)
  const added = others.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
  additions.set(envelope, added.join(''))
}
