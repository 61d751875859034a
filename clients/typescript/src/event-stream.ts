/** Server-sent events, as far as the home sends them. */
import { streamIn } from './answer.ts'
import { backoff, wait } from './deadline.ts'
import { HomeError } from './errors.ts'
import type { CallOptions, Transport } from './transport.ts'
import type { HomeEvent, MissedEvents } from './wire.ts'

export interface EventsOptions extends CallOptions {
  /** Oldest first unless told. */
  readonly order?: 'oldest' | 'newest'
  /** The id of the last event that you saw: those that come after it in this order. */
  readonly after?: number
  /** Only events from then on, RFC 3339. */
  readonly since?: string
  /** Only events of this memory. */
  readonly key?: string
  /** Only events of memories whose keys begin so. */
  readonly prefix?: string
  readonly type?: HomeEvent['type']
  /** Only those by the agent’s own token, by the operator, or by the named key with this id. */
  readonly by?: 'agent' | 'operator' | (string & {})
  /** Only those of the run that was called so. */
  readonly run?: string
  /** At most so many; all unless told. */
  readonly limit?: number
}

export interface WatchOptions extends CallOptions {
  /** Begins with the event after this one: the id of the last that you saw. Now, unless told. */
  readonly after?: number
}

interface Message {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
}

/** The home says something every 15 seconds. */
const IDLE_MS = 45_000

/** No event of the home is a hundredth of it. */
const MOST_CHARACTERS = 1_000_000

const BACKOFF = { first: 250, most: 10_000 }

const unreadable = () =>
  new HomeError({ status: 200, code: 'answer_too_large', detail: 'An event has no end.' })

const fieldOf = (lines: readonly string[], name: string): string | undefined =>
  lines
    .findLast((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)
    .trim()

function messageOf(block: string): Message {
  const lines = block.split('\n')
  return { id: fieldOf(lines, 'id'), event: fieldOf(lines, 'event'), data: fieldOf(lines, 'data') }
}

/** Ends where the connection does, however that is. */
async function* messagesIn(stream: ReadableStream<Uint8Array>): AsyncGenerator<Message, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
      if (done) return
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      if (text.length > MOST_CHARACTERS) throw unreadable()
      yield* blocks.map(messageOf)
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const eventIn = ({ event, data }: Message): HomeEvent | MissedEvents | undefined => {
  // After `end` the home is asked again, and says why in its refusal.
  if (data === undefined || event === 'end') return undefined
  const said: HomeEvent | Omit<MissedEvents, 'type'> = JSON.parse(data)
  return 'type' in said ? said : { type: 'missed', ...said }
}

/** Goes on where it was cut off. Throws what the home refuses, or the reason of the signal. */
export async function* watchEvents(
  transport: Transport,
  { after, signal, timeout }: WatchOptions,
): AsyncGenerator<HomeEvent | MissedEvents, void> {
  let seen = after === undefined ? undefined : String(after)
  for (let idle = 0; ; idle++) {
    const stream = await transport.ask({
      path: '/me/events/stream',
      headers: { ...(seen !== undefined && { 'last-event-id': seen }) },
      signal,
      timeout,
      take: async (response, deadline) => streamIn(response, deadline, IDLE_MS),
    })
    for await (const message of messagesIn(stream)) {
      const event = eventIn(message)
      if (event) {
        idle = 0
        yield event
      }
      seen = message.id ?? seen
    }
    signal?.throwIfAborted()
    await wait(backoff(idle, BACKOFF), signal)
  }
}
