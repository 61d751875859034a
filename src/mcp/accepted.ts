/**
 * Calls of one client differ only in their id and arguments. Everything else was checked by the SDK
 * on the first call, which costs several times what a read does (`bench/mcp.ts`): so accepted calls
 * are cached by their envelope.
 */
import type { Call } from '../http/call.ts'
import type { Place } from '../json/members.ts'
import { type Message, toolNamed } from './message.ts'

/** What the SDK checks besides the message. */
export const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/** Longer headers are always checked by the SDK. */
const MOST_KEPT = 256
const LONGEST = 2_048

/** The response's other members as JSON, starting with a comma. */
const additions = new Map<string, string>()

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id)

/** The message without its id and its arguments. */
function letterOf({ source }: Message, id: Place, args: Place): string {
  const [first, second] = id.from < args.from ? [id, args] : [args, id]
  const between = source.slice(first.to, second.from)
  return source.slice(0, first.from) + between + source.slice(second.to)
}

/** Everything a call can be refused for except its arguments; undefined for other messages. */
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

/** Undefined if the SDK has not accepted such a call yet. */
export const additionsTo = (envelope: string): string | undefined => additions.get(envelope)

/** The members of a tool's result; the SDK adds the rest. */
const OWN = ['content', 'structuredContent', 'isError']

/** `answered`: the SDK's response to a call. Only a result shows that it accepted the call. */
export function remember(envelope: string, answered: string): void {
  const { result } = JSON.parse(answered)
  if (!isObject(result)) return
  const others = Object.entries(result).filter(([name]) => !OWN.includes(name))
  const [oldest] = additions.keys()
  if (additions.size >= MOST_KEPT && oldest !== undefined) additions.delete(oldest)
  const added = others.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
  additions.set(envelope, added.join(''))
}
