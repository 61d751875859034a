/**
 * Exports in progress: one of an agent's tokens and one of its operator's, each spooled so that no client holds a store snapshot open.
 */
import { Problem, problem } from '../errors.ts'
import type { TextStream } from '../http/call.ts'
import { createFairQueue } from '../http/fair-queue.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import type { ErasuresAnswer } from '../store/port/transfer.ts'
import type { Timers } from '../timers.ts'
import { atOnce } from './limits.ts'
import { refusal } from './refusal.ts'
import { keepIn, type Spool, type SpooledStream } from './spool.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The exported text, and the home's erasure count at its snapshot. */
export interface Opened extends TextStream {
  readonly erasures: number
}

export interface Exports {
  /**
   * Reads what `open` opens when it is the client's turn, and returns it for the client to read at
   * its own speed. Throws `export_running`, `exports_busy`, `export_ended`, and errors of `open`
   * and its source. The text ends early if the client loses its access or something of the home is
   * erased.
   */
  readonly take: (
    client: string,
    identity: Identity,
    open: () => Promise<Opened>,
  ) => Promise<TextStream>
  /** Resolves when no export of the agent that must end, and none of its files, is left. */
  readonly review: (agentId: string) => Promise<void>
}

interface Parts {
  readonly spool: Spool
  readonly countErasures: (identity: Identity) => Promise<ErasuresAnswer>
  readonly follow: Subscriptions['follow']
  readonly after: Timers['after']
}

/** One export, from its snapshot to its last byte. */
interface Running {
  /** Of its snapshot; undefined before that. */
  erasures: number | undefined
  readonly identity: Identity
  readonly ending: AbortController
  /** Resolves when nothing of it is kept. */
  readonly over: PromiseWithResolvers<void>
}

type Verb<Args extends readonly unknown[], T> = (identity: Identity, ...args: Args) => Promise<T>

type Check = (running: Running) => Promise<number>

/** Returns the newest event of the home. Throws if the export must end. */
const checking =
  (countErasures: Parts['countErasures']): Check =>
  async ({ identity, erasures, ending }) => {
    ending.signal.throwIfAborted()
    // Erasures before the snapshot are not in it.
    if (erasures === undefined) return 0
    const counted = await countErasures(identity)
    if (counted.outcome !== 'erasures') throw refusal(counted)
    if (counted.erasures !== erasures) throw problem('export_ended')
    return counted.lastEvent
  }

/** Like `check`, without a caller: an export that must end is cut off. */
async function endUnless(running: Running, check: Check): Promise<number> {
  try {
    return await check(running)
  } catch (error) {
    running.ending.abort(error)
    return 0
  }
}

/** Checks again before the last piece: a complete file is one that may be read. */
async function* whileAllowed(
  pieces: AsyncIterable<string>,
  running: Running,
  check: Check,
): AsyncGenerator<string> {
  const { signal } = running.ending
  try {
    for await (const piece of pieces) {
      await check(running)
      yield piece
    }
    await check(running)
  } catch (error) {
    throw signal.aborted ? signal.reason : error
  }
}

/**
 * Ends an export whose client reads nothing: at once, or within a second if another node erased
 * something. Returns a function to stop checking.
 */
function watchOver(running: Running, follow: Subscriptions['follow'], check: Check): () => void {
  const { next, leave } = follow(running.identity)
  const watch = async (): Promise<void> => {
    for (let seen = 0; !running.ending.signal.aborted; ) {
      if ((await next(seen, Number.POSITIVE_INFINITY)) === 'over') return
      seen = await endUnless(running, check)
    }
  }
  watch().catch(() => {})
  return leave
}

/** The error of a source that was ended. */
async function whyEnded(running: Running, check: Check, error: unknown): Promise<unknown> {
  const ended = await check(running).catch((reason: unknown) => reason)
  return ended instanceof Problem ? ended : error
}

const beginFor = (identity: Identity): Running => ({
  erasures: undefined,
  identity,
  ending: new AbortController(),
  over: Promise.withResolvers(),
})

/** The operator never waits for an export of a token that the agent gave away. */
const slotOf = ({ agentId, kind }: Identity): string => `${agentId} ${kind}`

/** Running exports, one per slot, and those whose file may still be open. */
function createRegister() {
  const underWay = new Map<string, Running>()
  const kept = new Set<Running>()
  return {
    begin(identity: Identity): Running {
      const slot = slotOf(identity)
      if (underWay.has(slot)) {
        throw problem('export_running', { headers: { 'Retry-After': '1' } })
      }
      const running = beginFor(identity)
      underWay.set(slot, running)
      kept.add(running)
      return running
    },
    leave(running: Running): void {
      const slot = slotOf(running.identity)
      if (underWay.get(slot) === running) underWay.delete(slot)
    },
    letGo(running: Running): void {
      kept.delete(running)
      running.over.resolve()
    },
    of: (agentId: string): Running[] =>
      [...kept].filter(({ identity }) => identity.agentId === agentId),
  }
}

/** Concurrent snapshots, one per client: a store has few connections for long reads. */
const READING = {
  atOnce: atOnce.exports.inAll,
  perClient: atOnce.exports.perAddress,
  places: 256,
}
const READING_WAIT_MS = 30_000

/** An export is over when its last byte was sent, its client left, or it was ended. */
export function createExports({ spool, countErasures, follow, after }: Parts): Exports {
  const register = createRegister()
  const reading = createFairQueue({
    ...READING,
    busy: () => problem('exports_busy'),
    patience: { ms: READING_WAIT_MS, after },
  })
  const check = checking(countErasures)

  async function begin(running: Running, open: () => Promise<Opened>): Promise<Opened> {
    const opened = await open()
    running.erasures = opened.erasures
    try {
      await check(running)
      return opened
    } catch (error) {
      opened.close()
      throw error
    }
  }

  const take: Exports['take'] = async (client, identity, open) => {
    const running = register.begin(identity)
    const { signal: ended } = running.ending
    const unfollow = watchOver(running, follow, check)
    let text: SpooledStream | undefined
    const close = async (): Promise<void> => {
      unfollow()
      register.leave(running)
      await text?.close()
      register.letGo(running)
    }
    try {
      text = await reading.run({ client }, () =>
        keepIn(spool.open(client, 'exports_busy'), () => begin(running, open), ended),
      )
      await check(running)
      ended.addEventListener('abort', close)
      return { pieces: whileAllowed(text.pieces, running, check), close, ended }
    } catch (error) {
      const reason = await whyEnded(running, check, error)
      await close()
      throw reason
    }
  }

  async function review(agentId: string): Promise<void> {
    for (const running of register.of(agentId)) {
      await endUnless(running, check)
      if (running.ending.signal.aborted) await running.over.promise
    }
  }

  return { take, review }
}

/** Wraps the store so that erasures wait for exports that must end. */
export function endingExports(store: HomeStore, { review }: Exports): HomeStore {
  const reviewed =
    <Args extends readonly unknown[], T>(erase: Verb<Args, T>): Verb<Args, T> =>
    (identity, ...args) =>
      erase(identity, ...args).finally(() => review(identity.agentId))
  return {
    ...store,
    eraseMemory: reviewed(store.eraseMemory),
    eraseAgent: reviewed(store.eraseAgent),
  }
}
