/** Handles one message with the SDK. Loaded on first use. */
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Problem } from '../errors.ts'
import { type EventEncoder, follow, fromNow, type Start } from '../home/event-stream.ts'
import { prefixOf } from '../home/key-scope.ts'
import { type Answer, answer, type Call, type TextStream } from '../http/call.ts'
import { EVENT_STREAM, eventStream } from '../http/event-stream.ts'
import type { Place } from '../json/members.ts'
import { noteRefused } from '../pipeline/agent-calls.ts'
import type { HomeEvent } from '../store/port/events.ts'
import { nextTurn } from '../turns.ts'
import { callTool, type Turn } from './calling.ts'
import { LISTEN, type Message, toolNamed } from './message.ts'
import { serverFor } from './protocol-server.ts'
import { uriOf } from './resources.ts'
import { isLegacy, respond } from './respond.ts'
import { toolOf } from './tools/index.ts'
import type { Tool } from './tools/tool.ts'

type Bus = Pick<ServerEventBus, 'publish'>

/** The resources of a subscription; the SDK refuses invalid ones. */
const subscription = z.object({
  notifications: z.object({ resourceSubscriptions: z.array(z.string()) }),
})

function followedBy({ message, identity }: Turn): readonly string[] {
  const { data } = subscription.safeParse(message.body.params)
  const uris = data?.notifications.resourceSubscriptions ?? []
  return uris.filter((uri) => uri.startsWith(uriOf(prefixOf(identity))))
}

const urisOf = (events: readonly HomeEvent[]): string[] =>
  events.flatMap(({ key, from }) => [key, from].flatMap((name) => name ?? [])).map(uriOf)

function writtenTo(body: ReadableStream<Uint8Array>) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let written = ''
  async function gather(): Promise<void> {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      written += decoder.decode(read.value, { stream: true })
    }
  }
  gather().catch(() => {})
  return {
    /** What was written since the last read. */
    async take(): Promise<string> {
      // The SDK writes at once; the output is here one turn later.
      await nextTurn()
      const taken = written
      written = ''
      return taken
    },
    close: () => void reader.cancel().catch(() => {}),
  }
}

type Written = ReturnType<typeof writtenTo>

/** What the SDK writes for a changed resource. */
type Notice = (uri: string) => string

/**
 * Learned from one, because the SDK compares each URI with all that the stream listens to. `first`:
 * the one that it finds first.
 */
async function noticeOf(bus: Bus, { take }: Written, first: string): Promise<Notice | undefined> {
  bus.publish({ kind: 'resource_updated', uri: first })
  const said = await take()
  const quoted = JSON.stringify(first)
  const at = said.indexOf(quoted)
  if (at < 0) return undefined
  const [before, behind] = [said.slice(0, at), said.slice(at + quoted.length)]
  return (uri) => before + JSON.stringify(uri) + behind
}

/**
 * The list contains sizes and times, so it changes with every event. Missed events may concern any
 * resource.
 */
async function encoderFor(bus: Bus, written: Written, turn: Turn): Promise<EventEncoder> {
  const opening = await written.take()
  const followed = new Set(followedBy(turn))
  const [first] = followed
  const notice = first === undefined ? undefined : await noticeOf(bus, written, first)
  return {
    opening,
    async encode(events, missed) {
      const changed = new Set(urisOf(events))
      if (missed || changed.size > 0) bus.publish({ kind: 'resources_list_changed' })
      const updated = notice ? [...(missed ? followed : changed.intersection(followed))] : []
      return updated.map((uri) => notice?.(uri)).join('') + (await written.take())
    },
    end: () => '',
  }
}

async function streamOf(
  call: Call,
  turn: Turn,
  start: Start,
  bus: Bus,
  written: Written,
  end: () => Promise<void>,
): Promise<TextStream> {
  const encoder = await encoderFor(bus, written, turn)
  const { pieces, close } = follow(call, turn.home, turn.identity, start, encoder)
  async function* whole(): AsyncGenerator<string> {
    yield* pieces
    // The SDK writes the end of the stream.
    await end()
    yield await written.take()
  }
  return {
    pieces: whole(),
    close() {
      close()
      written.close()
    },
  }
}

/** Throws `too_many_streams`, and the refusal of the agent. */
async function listen(call: Call, turn: Turn, request: Request): Promise<Answer> {
  const start = await fromNow(turn.home, turn.identity)
  const bus = new InMemoryServerEventBus()
  const factory = () => serverFor(turn, 'modern')
  // Heartbeats come from the home.
  const handler = createMcpHandler(factory, { legacy: 'reject', bus, keepAliveMs: 0 })
  const response = await handler.fetch(request, { parsedBody: turn.message.body })
  const isStream = response.headers.get('content-type') === EVENT_STREAM
  if (!isStream || !response.body) return answer(call, response.status, await response.text())
  const written = writtenTo(response.body)
  return eventStream(call, await streamOf(call, turn, start, bus, written, handler.close))
}

/** What the SDK checks besides the message. */
const HEADERS = ['content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'] as const

/** Longer headers are always checked by the SDK. */
const MOST_KEPT = 256
const LONGEST = 2_048

/**
 * By the envelope of a call that the SDK has accepted: what it adds to the members of a result, as
 * JSON that starts with a comma.
 */
const accepted = new Map<string, string>()

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (id: unknown): boolean => typeof id === 'string' || Number.isSafeInteger(id)

/** The message without its id and its arguments. */
function remainderOf({ source }: Message, id: Place, args: Place): string {
  const [first, second] = id.from < args.from ? [id, args] : [args, id]
  const between = source.slice(first.to, second.from)
  return source.slice(0, first.from) + between + source.slice(second.to)
}

/** Everything a call can be refused for except its arguments; undefined for other messages. */
function envelopeOf({ requestHeaders }: Call, message: Message): string | undefined {
  const { body, members, params } = message
  const id = members.get('id')
  const args = params.get('arguments')
  if (!id || !args || toolNamed(message) === undefined) return undefined
  if (!isId(body.id) || !isObject(body.params?.arguments)) return undefined
  let envelope = remainderOf(message, id, args)
  for (const name of HEADERS) envelope += `\n${requestHeaders[name] ?? ''}`
  return envelope.length > LONGEST ? undefined : envelope
}

/** The members of a tool's result; the SDK adds the rest. */
const OWN = ['content', 'structuredContent', 'isError']

/** `answered`: the SDK's response to a call. Only a result shows that it accepted the call. */
function remember(envelope: string, answered: string): void {
  const { result } = JSON.parse(answered)
  if (!isObject(result)) return
  const others = Object.entries(result).filter(([name]) => !OWN.includes(name))
  const [oldest] = accepted.keys()
  if (accepted.size >= MOST_KEPT && oldest !== undefined) accepted.delete(oldest)
  const added = others.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
  accepted.set(envelope, added.join(''))
}

function requestOf({ requestHeaders }: Call): Request {
  // Responses are JSON, whatever else the client accepts.
  const headers = new Headers({ accept: `application/json, ${EVENT_STREAM}` })
  for (const name of HEADERS) {
    const value = requestHeaders[name]
    if (value !== undefined) headers.set(name, value)
  }
  // The URL plays no part, and a Host header cannot be trusted.
  return new Request('http://mcp/', { method: 'POST', headers })
}

async function whole(call: Call, response: Response): Promise<Answer> {
  const text = await response.text()
  if (text === '') {
    call.responseHeaders['Content-Length'] = '0'
    return answer(call, response.status, null)
  }
  return answer(call, response.status, text, response.headers.get('content-type') ?? undefined)
}

async function throughLibrary(call: Call, turn: Turn): Promise<Answer> {
  const request = requestOf(call)
  const { body } = turn.message
  if (body.method === LISTEN && !isLegacy(request, body)) return listen(call, turn, request)
  return whole(call, await respond(request, body, (era) => serverFor(turn, era)))
}

async function direct(call: Call, turn: Turn, tool: Tool, additions: string): Promise<Answer> {
  const result = await callTool(tool, turn)
  const id = JSON.stringify(turn.message.body.id)
  const said = `{"result":${result.slice(0, -1)}${additions}},"jsonrpc":"2.0","id":${id}}`
  return answer(call, 200, said)
}

async function serve(call: Call, turn: Turn): Promise<Answer> {
  const tool = toolOf(toolNamed(turn.message))
  const envelope = tool && envelopeOf(call, turn.message)
  if (!tool || envelope === undefined) return throughLibrary(call, turn)
  const additions = accepted.get(envelope)
  if (additions !== undefined) return direct(call, turn, tool, additions)
  const given = await throughLibrary(call, turn)
  if (given.status === 200 && typeof given.body === 'string') remember(envelope, given.body)
  return given
}

/** Throws the error of the whole message. */
export async function exchange(call: Call, asked: Omit<Turn, 'fail' | 'refuse'>): Promise<Answer> {
  const failures: unknown[] = []
  const fail = (error: unknown) => void failures.push(error)
  const refuse = (refusal: Problem) => noteRefused(call, refusal)
  const given = await serve(call, { ...asked, fail, refuse })
  for (const failure of failures) throw failure
  return given
}
