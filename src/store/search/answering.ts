/** Answers searches in their thread, interleaved. */
import { setImmediate as turn } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { StoreUnavailable } from '../port/errors.ts'
import type { Identity } from '../port/home.ts'
import type { SearchAnswer, SearchQuery } from '../port/keeping/search.ts'
import { HomeIndex } from './home-index.ts'
import { Indexes, type SearchSource } from './indexes.ts'
import { rank } from './rank.ts'
import { searchWith } from './run-search.ts'

/** Null ends the thread. */
export interface SearchMessage {
  readonly id: number
  readonly search?: { readonly identity: Identity; readonly query: SearchQuery }
  /** The agent whose indexes are to be dropped. */
  readonly forget?: string
}

export interface SearchReply {
  readonly id: number
  readonly answer?: SearchAnswer | undefined
  readonly error?: unknown
  /**
   * The storage did not answer in time. Error classes do not survive the message, so this is a
   * member.
   */
  readonly unavailable?: boolean
}

export interface Answering {
  readonly source: SearchSource
  /** Bytes for the indexes of all homes. */
  readonly cacheBytes: number
  /** Translates errors of the source to the port's. */
  readonly translate: (error: unknown) => unknown
  readonly close: () => Promise<void> | void
}

/** Texts and a question that make V8 compile what the first search in any script needs. */
const WARMING = {
  text: 'An exämple, приклад, مثال, 例え, ☀️: {"n": 1}',
  q: '"An exämple" приклде 例え',
  memories: 300,
  repeats: 50,
}

async function warmUp(): Promise<void> {
  const index = new HomeIndex()
  for (let n = 0; n < WARMING.memories; n++) {
    const text = `${WARMING.text} ${n} `.repeat(n % WARMING.repeats)
    index.put({ key: `${n}`, text, metadata: '{}', version: 1, updatedAt: 0 })
    await turn()
  }
  await rank(index, { q: WARMING.q, all: false, isWanted: () => true }, turn)
}

export function answerSearches(port: MessagePort, answering: Answering): void {
  const { source, cacheBytes, translate, close } = answering
  const indexes = new Indexes(source, cacheBytes, turn)
  const search = searchWith(source, indexes, turn)

  async function answer(message: SearchMessage): Promise<SearchAnswer | undefined> {
    if (message.search) return search(message.search.identity, message.search.query)
    if (message.forget !== undefined) await indexes.forget(message.forget)
    return undefined
  }

  async function end(): Promise<void> {
    indexes.close()
    await close()
    port.close()
  }

  void warmUp()
  port.on('message', (message: SearchMessage | null) => {
    if (!message) return void end()
    const say = (reply: Omit<SearchReply, 'id'>) => port.postMessage({ id: message.id, ...reply })
    answer(message).then(
      (found) => say({ answer: found }),
      (error: unknown) => say({ error, unavailable: translate(error) instanceof StoreUnavailable }),
    )
  })
}
