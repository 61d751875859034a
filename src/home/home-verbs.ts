/**
 * Each verb of a home: who may call it, and whether it can log an event, of which the home's
 * subscribers are notified. A new verb of the port does not compile until it has its row here.
 */
import { type Problem, problem } from '../errors.ts'
import type { HomeStore } from '../store/port/home.ts'
import type { Identity } from '../store/port/identity.ts'
import {
  changesRefused,
  eventsRefused,
  listRefused,
  readingRefused,
  wholeHomeRefused,
  writingRefused,
} from './key-scope.ts'

export type Refusal = Problem | undefined

/** Verbs that take the identity of a token. */
export type HomeVerb = Exclude<
  {
    [N in keyof HomeStore]: Parameters<HomeStore[N]>[0] extends Identity ? N : never
  }[keyof HomeStore],
  'noteUse' | 'noteWake'
>

interface Row<Args extends readonly unknown[]> {
  /** Why the identity may not; undefined if it may. */
  readonly refused: (...args: Args) => Refusal
  readonly logs: boolean
}

const row =
  (logs: boolean) =>
  <Args extends readonly unknown[]>(refused: Row<Args>['refused']): Row<Args> => ({ refused, logs })

const asked = row(false)
const logged = row(true)

const anybody = (): Refusal => undefined

/** Agents and their named keys may not use the operator's verbs. */
const operators = ({ kind }: Identity): Refusal =>
  kind === 'operator' ? undefined : problem('insufficient_scope')

const readers = (identity: Identity, key: string): Refusal => readingRefused(identity, key)

export const homeVerbs: { readonly [N in HomeVerb]: Row<Parameters<HomeStore[N]>> } = {
  readProfile: asked(anybody),
  eventsAfter: asked(anybody),
  exportMemories: asked(anybody),
  countErasures: asked(anybody),
  listEvents: asked(eventsRefused),
  eventsByOthers: asked((identity, prefix) => listRefused(identity, { prefix })),
  readHead: asked(wholeHomeRefused),
  listMemories: asked(listRefused),
  listDeleted: asked(listRefused),
  listBranches: asked(listRefused),
  searchMemories: asked(listRefused),
  readMemory: asked(readers),
  readVersion: asked(readers),
  listVersions: asked(readers),
  storeVectors: asked((identity, _, vectors) =>
    writingRefused(identity, ...vectors.map(({ key }) => key)),
  ),
  listKeys: asked(operators),
  recordEvent: logged(anybody),
  writeMemory: logged((identity, { key }) => writingRefused(identity, key)),
  changeMemories: logged(changesRefused),
  appendOnce: logged((identity, { key }) => writingRefused(identity, key)),
  protectMemory: logged(operators),
  eraseMemory: logged(operators),
  importMemories: logged(operators),
  rollBack: logged(operators),
  setStatus: logged(operators),
  changeProfile: logged(operators),
  rotateAgentToken: logged(operators),
  createKey: logged(operators),
  endKey: logged(operators),
  replaceOperatorToken: logged(operators),
  eraseAgent: logged(operators),
}

export const VERBS = Object.keys(homeVerbs) as readonly HomeVerb[]

/** A store with these verbs alone; `make` returns the function of each. */
export const eachVerb = (
  names: readonly HomeVerb[],
  make: (name: HomeVerb) => (identity: Identity, ...args: readonly unknown[]) => unknown,
): Pick<HomeStore, HomeVerb> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Pick<HomeStore, HomeVerb>
