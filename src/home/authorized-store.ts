/**
 * Authorization in one place: handlers receive this store, in which every verb first checks the
 * rights of the identity (home-verbs.ts).
 */
import { problem } from '../errors.ts'
import { hasExpired } from '../pipeline/tokens.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import { type KeyStore, USE_MS } from '../store/port/keys.ts'
import { createEventsByPrefix, createOthersByPrefix, visible } from './events-by-prefix.ts'
import { eachVerb, type HomeVerb, homeVerbs, type Refusal, VERBS } from './home-verbs.ts'
import { narrowed, type Prefixed, prefixOf } from './key-scope.ts'

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

/** What a key with a prefix sees of the home. */
function underPrefix(store: HomeStore) {
  const eventsByPrefix = createEventsByPrefix(store.eventsAfter)
  const othersByPrefix = createOthersByPrefix(store.eventsByOthers)
  const narrowing =
    <Query extends Prefixed, T>(verb: (identity: Identity, query: Query) => T) =>
    (identity: Identity, query: Query): T =>
      verb(identity, narrowed(identity, query))
  return {
    readProfile: (identity) => store.readProfile(identity, prefixOf(identity)),
    listMemories: narrowing(store.listMemories),
    listDeleted: narrowing(store.listDeleted),
    listBranches: narrowing(store.listBranches),
    searchMemories: narrowing(store.searchMemories),
    eventsAfter: (identity, id, limit) =>
      prefixOf(identity) === ''
        ? store.eventsAfter(identity, id, limit)
        : eventsByPrefix(identity, id, limit),
    async listEvents(identity, query) {
      const page = await store.listEvents(identity, narrowed(identity, query))
      const prefix = prefixOf(identity)
      if (page.outcome !== 'page' || prefix === '') return page
      return { ...page, events: page.events.map((event) => visible(event, prefix)) }
    },
    eventsByOthers(identity, asked) {
      const { prefix } = narrowed(identity, { prefix: asked })
      return prefixOf(identity) === ''
        ? store.eventsByOthers(identity, prefix)
        : othersByPrefix(identity, prefix)
    },
    exportMemories: (identity, _, history) =>
      store.exportMemories(identity, prefixOf(identity), history),
  } satisfies Partial<HomeStore>
}

type Call<T> = (identity: Identity, ...args: readonly unknown[]) => T

/** `clock`: milliseconds since the epoch. */
export function authorizedStore(store: HomeStore, clock: () => number): HomeStore {
  const noteUse = noteUses(store, clock)
  const verbs: HomeStore = { ...store, ...underPrefix(store) }

  function used(identity: Identity | undefined): Identity | undefined {
    if (identity?.key && !hasExpired(identity, clock())) noteUse(identity)
    return identity
  }

  /** A stream may outlive its key, so expiry is checked here too. */
  function guarded(name: HomeVerb): Call<Promise<unknown>> {
    const refused = homeVerbs[name].refused as Call<Refusal>
    const verb = verbs[name] as Call<Promise<unknown>>
    return (identity, ...args) => {
      const isOver = hasExpired(identity, clock())
      const refusal = isOver ? problem('key_expired') : refused(identity, ...args)
      return refusal ? Promise.reject(refusal) : verb(identity, ...args)
    }
  }

  return {
    ...eachVerb(VERBS, guarded),
    findBirth: store.findBirth,
    hasRoom: store.hasRoom,
    countBirths: store.countBirths,
    findAccount: store.findAccount,
    knowsAddress: store.knowsAddress,
    bear: store.bear,
    findReplacement: store.findReplacement,
    changedHomes: store.changedHomes,
    noteUse: store.noteUse,
    noteWake: store.noteWake,
    identify(tokenHash) {
      const found = store.identify(tokenHash)
      return found instanceof Promise ? found.then(used) : used(found)
    },
  }
}
