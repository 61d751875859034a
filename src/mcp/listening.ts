/**
 * Subscriptions to memories: the SDK formats messages, and the home's stream decides when. The SDK
 * would buffer whatever its client does not read, so it gets a few events at a time, and the next
 * ones when those were read.
 */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type ServerEventBus,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type EventEncoder, follow, fromNow, type Start } from '../home/event-stream.ts'
import { prefixOf } from '../home/key-scope.ts'
import { type Answer, answer, type Call, type TextStream } from '../http/call.ts'
import type { HomeEvent } from '../store/port/keeping/events.ts'
import { serverFor } from './protocol-server.ts'
import { uriOf } from './resources.ts'
import type { Turn } from './turn.ts'

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

/**
 * The list contains sizes and times, so it changes with every event. Missed events may concern any
 * resource.
 */
function publish(bus: Bus, changed: ReadonlySet<string>, missed: boolean): void {
  for (const uri of changed) bus.publish({ kind: 'resource_updated', uri })
  if (missed || changed.size > 0) bus.publish({ kind: 'resources_list_changed' })
}

interface Written {
  /** What was written since the last read. */
  readonly take: () => Promise<string>
  readonly close: () => void
}

function writtenTo(body: ReadableStream<Uint8Array>): Written {
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
    async take() {
      // The SDK writes at once; the output is here one turn later.
      await turnOfTheLoop()
      const taken = written
      written = ''
      return taken
    },
    close: () => void reader.cancel().catch(() => {}),
  }
}

const voiceOf = (bus: Bus, { take }: Written, followed: readonly string[]): EventEncoder => ({
  opening: take(),
  encode(events, missed) {
    publish(bus, new Set([...urisOf(events), ...(missed ? followed : [])]), missed !== undefined)
    return take()
  },
  end: () => '',
})

/** The SDK writes the end of the stream. */
async function* untilTheEnd(
  pieces: AsyncIterable<string>,
  end: () => Promise<string>,
): AsyncGenerator<string> {
  yield* pieces
  yield await end()
}

function streamOf(
  call: Call,
  turn: Turn,
  start: Start,
  bus: Bus,
  written: Written,
  end: () => Promise<void>,
): TextStream {
  const encoder = voiceOf(bus, written, followedBy(turn))
  const { pieces, close } = follow(call, turn.home, turn.identity, start, encoder)
  return {
    pieces: untilTheEnd(pieces, async () => {
      await end()
      return written.take()
    }),
    close() {
      close()
      written.close()
    },
  }
}

/** Throws `too_many_streams`, and the refusal of the agent. */
export async function listen(call: Call, turn: Turn, request: Request): Promise<Answer> {
  const start = await fromNow(turn.home, turn.identity)
  const bus = new InMemoryServerEventBus()
  const factory = () => serverFor(turn, 'modern')
  // Heartbeats come from the home.
  const handler = createMcpHandler(factory, { legacy: 'reject', bus, keepAliveMs: 0 })
  const response = await handler.fetch(request, { parsedBody: turn.message.body })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (!isStream || !response.body) return answer(call, response.status, await response.text())
  const written = writtenTo(response.body)
  const stream = streamOf(call, turn, start, bus, written, handler.close)
  call.responseHeaders['X-Accel-Buffering'] = 'no'
  return answer(call, 200, stream, 'text/event-stream')
}
