/**
 * Authorization in one place: handlers receive this store, in which every verb first checks the
 * rights of the identity. A new verb of the port does not compile until its right is declared here.
 */
import { type Problem, problem } from '../errors.ts'
import { hasExpired } from '../pipeline/tokens.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import { type KeyStore, USE_MS } from '../store/port/keys.ts'
import { createEventsByPrefix, visible } from './events-by-prefix.ts'
import {
  changesRefused,
  eventsRefused,
  listRefused,
  narrowed,
  type Prefixed,
  prefixOf,
  readingRefused,
  wholeHomeRefused,
  writingRefused,
} from './key-scope.ts'

/** Cached uses of keys; a forgotten one is recorded again, where the store decides. */
const MOST_KEYS = 10_000

function noteUses(store: Pick<KeyStore, 'noteUse'>, clock: () => number) {
  const noted = new Map<string, number>()
  return (identity: Identity): void => {
    const { tokenHash } = identity
    const now = clock()
    if (now - (noted.get(tokenHash) ?? Number.NEGATIVE_INFINITY) < USE_MS) return
    if (noted.size >= MOST_KEYS) noted.clear()
    noted.set(tokenHash, now)
    // A use that cannot be recorded fails no request.
    store.noteUse(identity, now).catch(() => undefined)
  }
}

type Refusal = Problem | undefined

type Verb<Args extends readonly unknown[], T> = (identity: Identity, ...args: Args) => Promise<T>

const anybody = (): Refusal => undefined

/** Agents and their named keys may not use the operator's verbs. */
const operators = ({ kind }: Identity): Refusal =>
  kind === 'operator' ? undefined : problem('insufficient_scope')

/** A stream may outlive its key, so expiry is checked here too. */
const allowing =
  (clock: () => number) =>
  <Args extends readonly unknown[], T>(
    refused: NoInfer<(identity: Identity, ...args: Args) => Refusal>,
    verb: Verb<Args, T>,
  ): Verb<Args, T> =>
  (identity, ...args) => {
    const refusal = hasExpired(identity, clock())
      ? problem('key_expired')
      : refused(identity, ...args)
    return refusal ? Promise.reject(refusal) : verb(identity, ...args)
  }

type Allow = ReturnType<typeof allowing>

const forWriters = (store: HomeStore, allowed: Allow) => ({
  writeMemory: allowed((identity, { key }) => writingRefused(identity, key), store.writeMemory),
  changeMemories: allowed(changesRefused, store.changeMemories),
  storeVectors: allowed(
    (identity, _, vectors) => writingRefused(identity, ...vectors.map(({ key }) => key)),
    store.storeVectors,
  ),
})

/** A list holds what is under the prefix of the key. */
function forLists(store: HomeStore, allowed: Allow) {
  const under = <Query extends Prefixed, T>(verb: Verb<[query: Query], T>) =>
    allowed<[query: Query], T>(listRefused, (identity, query) =>
      verb(identity, narrowed(identity, query)),
    )
  return {
    listMemories: under(store.listMemories),
    listDeleted: under(store.listDeleted),
    listBranches: under(store.listBranches),
    searchMemories: under(store.searchMemories),
  }
}

const forOperators = (store: HomeStore, allowed: Allow) => ({
  protectMemory: allowed(operators, store.protectMemory),
  eraseMemory: allowed(operators, store.eraseMemory),
  importMemories: allowed(operators, store.importMemories),
  rollBack: allowed(operators, store.rollBack),
  setStatus: allowed(operators, store.setStatus),
  changeProfile: allowed(operators, store.changeProfile),
  rotateAgentToken: allowed(operators, store.rotateAgentToken),
  createKey: allowed(operators, store.createKey),
  listKeys: allowed(operators, store.listKeys),
  endKey: allowed(operators, store.endKey),
  replaceOperatorToken: allowed(operators, store.replaceOperatorToken),
  eraseAgent: allowed(operators, store.eraseAgent),
})

/** `clock`: milliseconds since the epoch. */
export function authorizedStore(store: HomeStore, clock: () => number): HomeStore {
  const noteUse = noteUses(store, clock)
  const allowed = allowing(clock)
  const eventsByPrefix = createEventsByPrefix(store.eventsAfter)

  function used(identity: Identity | undefined): Identity | undefined {
    if (identity?.key && !hasExpired(identity, clock())) noteUse(identity)
    return identity
  }

  return {
    identify(tokenHash) {
      const found = store.identify(tokenHash)
      return found instanceof Promise ? found.then(used) : used(found)
    },
    findBirth: store.findBirth,
    hasRoom: store.hasRoom,
    countBirths: store.countBirths,
    findAccount: store.findAccount,
    knowsAddress: store.knowsAddress,
    bear: store.bear,
    findReplacement: store.findReplacement,
    changedHomes: store.changedHomes,
    noteUse: store.noteUse,

    readProfile: allowed(anybody, (identity) => store.readProfile(identity, prefixOf(identity))),
    recordEvent: allowed(anybody, store.recordEvent),
    eventsAfter: allowed(anybody, (identity, id, limit) =>
      prefixOf(identity) === ''
        ? store.eventsAfter(identity, id, limit)
        : eventsByPrefix(identity, id, limit),
    ),
    listEvents: allowed(eventsRefused, async (identity, query) => {
      const page = await store.listEvents(identity, narrowed(identity, query))
      const prefix = prefixOf(identity)
      if (page.outcome !== 'page' || prefix === '') return page
      return { ...page, events: page.events.map((event) => visible(event, prefix)) }
    }),
    readHead: allowed(wholeHomeRefused, store.readHead),
    exportMemories: allowed(anybody, (identity, _, history) =>
      store.exportMemories(identity, prefixOf(identity), history),
    ),
    countErasures: allowed(anybody, store.countErasures),
    ...forLists(store, allowed),
    readMemory: allowed(readingRefused, store.readMemory),
    readVersion: allowed((identity, key) => readingRefused(identity, key), store.readVersion),
    listVersions: allowed((identity, key) => readingRefused(identity, key), store.listVersions),
    ...forWriters(store, allowed),
    ...forOperators(store, allowed),
  }
}
