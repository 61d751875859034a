/** A store on a fresh database, and what the contract's tests ask of it, in one word each. */
import { randomUUID } from 'node:crypto'
import { openStore } from '../../src/store/open.ts'
import type { NewEntry } from '../../src/store/port/gateway.ts'
import type { Birth, BirthLimits } from '../../src/store/port/home.ts'
import type { Identity, KeyBounds } from '../../src/store/port/identity.ts'
import type { MemoriesQuery, Memory, MemoryWrite } from '../../src/store/port/memories.ts'
import type { HomeBounds, Store } from '../../src/store/port/store.ts'
import type { Engine } from '../harness.ts'
import { unbounded } from '../unbounded.ts'

export const HOUR_MS = 3_600_000

/** A fixed time for verbs that take one; stores never look at a clock of their own. */
export const NOON = Date.UTC(2026, 10, 21, 12)

export const noLimits: BirthLimits = {
  perAddress: 0,
  perNetwork: 0,
  inAll: 0,
  windowMs: HOUR_MS,
}

const hex = (): string => (randomUUID() + randomUUID()).replaceAll('-', '')

/** A birth that collides with no other. */
export const newBirth = (overrides: Partial<Birth> = {}): Birth => ({
  agentId: randomUUID(),
  name: 'Atlas',
  purpose: 'Keeps the plan.',
  symbol: 'zerno',
  agentTokenHash: hex(),
  operatorTokenHash: hex(),
  keyHash: hex(),
  fingerprint: hex(),
  salt: hex(),
  bornFrom: '192.0.2.1',
  ...overrides,
})

export const newWrite = (overrides: Partial<MemoryWrite> = {}): MemoryWrite => ({
  id: randomUUID(),
  key: 'plan',
  text: 'Step 1',
  metadata: '{}',
  expectedVersion: 0,
  ...overrides,
})

/** The first page of all memories, as summaries. */
export const newQuery = (overrides: Partial<MemoriesQuery> = {}): MemoriesQuery => ({
  prefix: '',
  order: 'key',
  limit: 100,
  whole: false,
  maxBytes: 262_144,
  ...overrides,
})

export const newEntry = (overrides: Partial<NewEntry> = {}): NewEntry => ({
  id: randomUUID(),
  feed: 'seeds',
  room: 'memory-garden',
  text: 'a text',
  identity: 'Echo',
  identityType: 'ai',
  details: '{}',
  labels: ['tag:x'],
  createdAt: NOON,
  ...overrides,
})

export interface StoredAgent {
  readonly birth: Birth
  readonly agent: Identity
  readonly operator: Identity
}

export type NamedIdentity = Identity & { readonly key: KeyBounds }

export interface StoreFixture {
  readonly store: () => Store
  /** An agent that was born, and who its two tokens speak for. */
  readonly agent: (overrides?: Partial<Birth>) => Promise<StoredAgent>
  /** Who a new named key of the agent speaks for. */
  readonly named: (operator: Identity, bounds?: Partial<KeyBounds>) => Promise<NamedIdentity>
  readonly write: (
    identity: Identity,
    overrides?: Partial<MemoryWrite>,
  ) => ReturnType<Store['writeMemory']>
  /** As a process that ends and starts again, perhaps with other bounds. `between`: in between. */
  readonly restart: (home?: Partial<HomeBounds>, between?: () => Promise<void>) => Promise<void>
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** `home`: what a home may hold, where not everything. */
export async function openFixture(
  engine: Engine,
  home: Partial<HomeBounds> = {},
): Promise<StoreFixture> {
  const database = await engine.fresh()
  const open = (bounds: Partial<HomeBounds>) =>
    openStore(database.url, NOON, { ...unbounded, home: { ...unbounded.home, ...bounds } })
  let store = await open(home)
  const identify = async (tokenHash: string) => {
    const identity = await store.identify(tokenHash)
    if (!identity) throw new Error('a token of this birth is not known')
    return identity
  }
  const close = async () => {
    await store.close()
    await database.drop()
  }
  return {
    store: () => store,
    async agent(overrides) {
      const birth = newBirth(overrides)
      const { outcome } = await store.bear(birth, noLimits, NOON)
      if (outcome !== 'born') throw new Error(`the birth was ${outcome}`)
      const [agent, operator] = [
        await identify(birth.agentTokenHash),
        await identify(birth.operatorTokenHash),
      ]
      return { birth, agent, operator }
    },
    async named(operator, overrides) {
      const id = randomUUID()
      const bounds = { id, name: 'k', access: 'write', prefix: '', expiresAt: undefined } as const
      const tokenHash = hex()
      await store.createKey(operator, { ...bounds, ...overrides }, tokenHash, NOON)
      const identity = await identify(tokenHash)
      return { ...identity, key: { ...bounds, ...overrides } }
    },
    write: (identity, overrides) => store.writeMemory(identity, newWrite(overrides), NOON),
    async restart(bounds = home, between = async () => {}) {
      await store.close()
      await between()
      store = await open(bounds)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** How often each outcome came. */
export function tally(answers: readonly { readonly outcome: string }[]): Record<string, number> {
  const groups = Object.groupBy(answers, ({ outcome }) => outcome)
  return Object.fromEntries(
    Object.entries(groups).map(([outcome, group]) => [outcome, group?.length ?? 0]),
  )
}

/** The whole export, read to its end; undefined when it was refused. */
export async function exported(store: Store, identity: Identity): Promise<Memory[] | undefined> {
  const answer = await store.exportMemories(identity)
  if (answer.outcome !== 'export') return undefined
  const memories = (await Array.fromAsync(answer.memories)).flat()
  answer.close()
  return memories
}
