/** Sends writes to the writer thread, and returns their answers. */
import { inNextTurn } from '../../../turns.ts'
import {
  OutcomeUnknown,
  StorageFull,
  StoreOverloaded,
  StoreUnavailable,
} from '../../port/errors.ts'
import type { Totals } from '../../port/store.ts'
import { keepThread } from '../../thread.ts'
import { type Asked, mapVerbs, type Verbs as Shared } from '../../verbs/verb.ts'
import type { Cleaning } from './checkpoint.ts'
import type { StorageFault } from './connection.ts'
import type { Failure, Job, Outcome, Verb } from './group-commit.ts'
import type { Answer, Message, WriterData } from './writer-thread.ts'
import type { Writes } from './writes.ts'

/** The most waiting writes; at 20 KB each they hold 40 MB. */
const MAX_WAITING = 2_048

/** The part of them reserved for the home, which gateway posts and health checks cannot use. */
const KEPT_FOR_HOME = 512

const OTHERS: ReadonlySet<Verb> = new Set(['leaveEntry', 'checkWritable'])

const placesFor = (verb: Verb): number =>
  OTHERS.has(verb) ? MAX_WAITING - KEPT_FOR_HOME : MAX_WAITING

type Verbs = Writes['verbs']

export interface Writer {
  /** Settles after the commit of the write, in order for each key. */
  submit<V extends Verb>(verb: V, ...args: Parameters<Verbs[V]>): Promise<ReturnType<Verbs[V]>>
  /** A slice of maintenance, after the writes submitted before. */
  readonly clean: () => Promise<Cleaning>
  readonly commits: () => number
  /** As of the last answered write. Throws StoreUnavailable. */
  readonly totals: () => Promise<Totals>
  /** The number of writes so far. */
  readonly submitted: () => number
  /** Waits for pending writes. */
  readonly close: () => Promise<void>
}

const portErrors: Readonly<Record<StorageFault, (cause: Error) => StoreUnavailable>> = {
  unknown: (cause) =>
    new OutcomeUnknown('the commit may or may not have reached the disk', { cause }),
  full: (cause) => new StorageFull('the disk is full', { cause }),
  unavailable: (cause) => new StoreUnavailable('the database does not answer', { cause }),
}

const portError = ({ error, fault }: Failure): Error => (fault ? portErrors[fault](error) : error)

/** Writes that were submitted and not answered yet, in order. */
function openQueue() {
  let waiting: Omit<PromiseWithResolvers<unknown>, 'promise'>[] = []
  return {
    isFull: (verb: Verb) => waiting.length >= placesFor(verb),
    join: <T>(): Promise<T> =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve: resolve as (value: unknown) => void, reject })
      }),
    answer(outcomes: readonly Outcome[]): void {
      const answered = waiting.splice(0, outcomes.length)
      outcomes.forEach((outcome, at) => {
        if ('value' in outcome) answered[at]?.resolve(outcome.value)
        else answered[at]?.reject(portError(outcome))
      })
    },
    /** The outcome of writes in progress is unknown. */
    lose(cause: unknown): void {
      const lost = waiting
      waiting = []
      const error = new OutcomeUnknown('the writer thread ended', { cause })
      for (const { reject } of lost) reject(error)
    },
  }
}

/** The totals that the thread reported last; it is asked if they are not known. */
function followTotals(ask: () => void) {
  let known: Totals | undefined
  let asked: PromiseWithResolvers<Totals> | undefined
  return {
    said(totals: Totals | undefined, isAnswer = false): void {
      known = totals
      if (totals) asked?.resolve(totals)
      else if (isAnswer) asked?.reject(new StoreUnavailable('the database does not answer'))
      else return
      asked = undefined
    },
    async now(): Promise<Totals> {
      if (known) return known
      if (!asked) {
        ask()
        asked = Promise.withResolvers()
      }
      return asked.promise
    },
  }
}

export function startWriter(workerData: WriterData): Writer {
  const queue = openQueue()
  let commits = 0
  let submitted = 0
  let unsent: Job[] = []
  let closed = false
  let cleanings: ((came: Cleaning) => void)[] = []

  const file = { name: 'writer-thread', beside: import.meta.url, workerData }
  const thread = keepThread<Message, Answer>(file, {
    answered({ outcomes, changed, totals, counted, cleaning }) {
      if (changed > 0) commits++
      if (cleaning) cleanings.shift()?.(cleaning)
      stored.said(totals, counted)
      queue.answer(outcomes)
    },
    ended(cause) {
      unsent = []
      stored.said(undefined, true)
      queue.lose(cause)
      for (const settle of cleanings) settle('busy')
      cleanings = []
    },
  })
  const stored = followTotals(() => thread.post('count'))

  /** All writes of one event loop turn are sent in one message. */
  function send(): void {
    if (unsent.length === 0) return
    // With many agents counting takes a while: at the first write, not in the midst of later ones.
    if (!thread.isRunning()) thread.post('count')
    thread.post(unsent)
    unsent = []
  }

  return {
    submit(verb, ...args) {
      if (closed) return Promise.reject(new StoreUnavailable('the store is closed'))
      if (queue.isFull(verb)) return Promise.reject(new StoreOverloaded('too many writes wait'))
      submitted++
      if (unsent.push([verb, ...args]) === 1) inNextTurn(send)
      return queue.join()
    },
    async clean() {
      thread.post('clean')
      return new Promise((resolve) => cleanings.push(resolve))
    },
    commits: () => commits,
    totals: async () => stored.now(),
    submitted: () => submitted,
    async close() {
      closed = true
      send()
      // The last connection to close must be one that may write, or the log's files stay.
      thread.start()
      await thread.close()
    },
  }
}

/** Sent to the writer thread, which has them under the same names. */
export function submitVerbs<V extends Shared>(verbs: V, submit: Writer['submit']): Asked<V> {
  const send = submit as unknown as (name: string, ...args: never) => Promise<unknown>
  return mapVerbs(verbs, (_, args, name) => send(name, ...args)) as Asked<V>
}
