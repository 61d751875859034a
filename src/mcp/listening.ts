/**
 * Subscriptions to memories: the library says what is to be said, and the home's own stream decides
 * when. The library would hold whatever its reader does not take; so it is told of no more than
 * some events at a time, and of the next when what it made of them was taken.
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

/** What a subscription names; what is faulty the library refuses. */
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
 * A list tells sizes and times, so it is another with every change. What was missed may have been a
 * change of anything that is followed.
 */
function publish(bus: Bus, changed: ReadonlySet<string>, missed: boolean): void {
  for (const uri of changed) bus.publish({ kind: 'resource_updated', uri })
  if (missed || changed.size > 0) bus.publish({ kind: 'resources_list_changed' })
}

interface Written {
  /** What was written since it was last taken. */
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
      // The library writes at once; what it wrote is here a turn later.
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

/** The last words are the library's: that nothing more comes. */
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

/** Throws `too_many_streams`, and what the agent is refused for. */
export async function listen(call: Call, turn: Turn, request: Request): Promise<Answer> {
  const start = await fromNow(turn.home, turn.identity)
  const bus = new InMemoryServerEventBus()
  const factory = () => serverFor(turn, 'modern')
  // The heartbeat is the home's.
  const handler = createMcpHandler(factory, { legacy: 'reject', bus, keepAliveMs: 0 })
  const response = await handler.fetch(request, { parsedBody: turn.message.body })
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (!isStream || !response.body) return answer(call, response.status, await response.text())
  const written = writtenTo(response.body)
  const stream = streamOf(call, turn, start, bus, written, handler.close)
  call.responseHeaders['X-Accel-Buffering'] = 'no'
  return answer(call, 200, stream, 'text/event-stream')
}
