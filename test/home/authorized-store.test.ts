/** What each verb of the port lets a named key do. A verb without a row here does not compile. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { authorizedStore } from '../../src/home/authorized-store.ts'
import type { HomeEvent } from '../../src/store/port/events.ts'
import type { HomeStore } from '../../src/store/port/home.ts'
import type { Identity, KeyBounds } from '../../src/store/port/identity.ts'
import type { Change } from '../../src/store/port/memories.ts'
import { embedded } from '../harness.ts'
import {
  NOON,
  newBirth,
  newQuery,
  newWrite,
  noLimits,
  openFixture,
  type StoredAgent,
  type StoreFixture,
} from '../store/fixture.ts'

type Right =
  /** It speaks for nobody. */
  | 'asks nobody'
  /** Any key; what is outside of its prefix is not shown. */
  | 'any key'
  /** Only a key without a prefix. */
  | 'whole home'
  | 'reads'
  | 'writes'
  | 'operators'

interface Row {
  readonly right: Right
  /** Asks about this memory, where it asks about one. */
  readonly ask: (home: HomeStore, as: Identity, key: string) => unknown
}

const place = { bornFrom: '192.0.2.1' }
const bounds: KeyBounds = {
  id: 'x',
  name: 'x',
  access: 'write',
  prefix: '',
  expiresAt: undefined,
}
const token = { keyHash: 'k', salt: 's', tokenHash: randomUUID() }
const nothing = { async *[Symbol.asyncIterator]() {} }
const remove = (key: string): Change => ({ verb: 'delete', key, expectedVersion: 99 })

const rows: { readonly [Verb in keyof HomeStore]: Row } = {
  identify: { right: 'asks nobody', ask: (home, as) => home.identify(as.tokenHash) },
  findBirth: { right: 'asks nobody', ask: (home) => home.findBirth('x') },
  hasRoom: { right: 'asks nobody', ask: (home) => home.hasRoom() },
  countBirths: { right: 'asks nobody', ask: (home) => home.countBirths(place, 0) },
  findAccount: { right: 'asks nobody', ask: (home) => home.findAccount('x') },
  knowsAddress: { right: 'asks nobody', ask: (home) => home.knowsAddress('x') },
  bear: { right: 'asks nobody', ask: (home) => home.bear(newBirth(), noLimits, NOON) },
  findReplacement: { right: 'asks nobody', ask: (home) => home.findReplacement('x') },
  changedHomes: { right: 'asks nobody', ask: (home) => home.changedHomes(new Map()) },
  noteUse: { right: 'asks nobody', ask: (home, as) => home.noteUse(as, NOON) },
  noteWake: { right: 'asks nobody', ask: (home, as) => home.noteWake(as, 0, NOON) },
  readProfile: { right: 'any key', ask: (home, as) => home.readProfile(as) },
  recordEvent: { right: 'any key', ask: (home, as) => home.recordEvent(as, 'export', NOON) },
  eventsAfter: { right: 'any key', ask: (home, as) => home.eventsAfter(as, 0, 1) },
  listEvents: {
    right: 'reads',
    ask: (home, as, prefix) => home.listEvents(as, { prefix, order: 'newest', limit: 1 }),
  },
  eventsByOthers: {
    right: 'reads',
    ask: (home, as, prefix) => home.eventsByOthers(as, prefix),
  },
  readHead: { right: 'whole home', ask: (home, as) => home.readHead(as) },
  exportMemories: {
    right: 'any key',
    async ask(home, as) {
      const answer = await home.exportMemories(as)
      if (answer.outcome === 'export') answer.close()
    },
  },
  countErasures: { right: 'any key', ask: (home, as) => home.countErasures(as) },
  listMemories: {
    right: 'reads',
    ask: (home, as, prefix) => home.listMemories(as, newQuery({ prefix })),
  },
  listDeleted: {
    right: 'reads',
    ask: (home, as, prefix) => home.listDeleted(as, { prefix, limit: 1 }),
  },
  listBranches: {
    right: 'reads',
    ask: (home, as, prefix) => home.listBranches(as, { prefix, limit: 1 }),
  },
  searchMemories: {
    right: 'reads',
    ask: (home, as, prefix) => home.searchMemories(as, { q: 'x', prefix, limit: 1 }),
  },
  readMemory: { right: 'reads', ask: (home, as, key) => home.readMemory(as, key) },
  readVersion: { right: 'reads', ask: (home, as, key) => home.readVersion(as, key, 1) },
  listVersions: {
    right: 'reads',
    ask: (home, as, key) => home.listVersions(as, key, undefined, 1),
  },
  writeMemory: {
    right: 'writes',
    ask: (home, as, key) => home.writeMemory(as, newWrite({ key }), NOON),
  },
  changeMemories: {
    right: 'writes',
    ask: (home, as, key) => home.changeMemories(as, [remove(key)], NOON),
  },
  appendOnce: {
    right: 'writes',
    ask(home, as, key) {
      const append = { verb: 'append', id: randomUUID(), key, text: 'x', maxBytes: 9 } as const
      return home.appendOnce(as, append, { keyHash: 'k', fingerprint: 'f' }, NOON)
    },
  },
  storeVectors: {
    right: 'writes',
    ask: (home, as, key) => {
      const vectors = [{ key, version: 1, vector: Float32Array.of(1) }]
      return home.storeVectors(as, 'm', vectors)
    },
  },
  protectMemory: {
    right: 'operators',
    ask: (home, as, key) => home.protectMemory(as, key, true, NOON),
  },
  eraseMemory: {
    right: 'operators',
    ask: (home, as, key) => home.eraseMemory(as, key, 'all', NOON),
  },
  importMemories: {
    right: 'operators',
    ask: (home, as) => home.importMemories(as, nothing, { onConflict: 'skip', dryRun: true }, NOON),
  },
  rollBack: {
    right: 'operators',
    ask: (home, as) => home.rollBack(as, { to: 0, prefix: '', dryRun: true }, NOON),
  },
  setStatus: { right: 'operators', ask: (home, as) => home.setStatus(as, 'active', NOON) },
  changeProfile: { right: 'operators', ask: (home, as) => home.changeProfile(as, {}, NOON) },
  createKey: {
    right: 'operators',
    ask: (home, as) => home.createKey(as, bounds, randomUUID(), NOON),
  },
  listKeys: { right: 'operators', ask: (home, as) => home.listKeys(as) },
  endKey: { right: 'operators', ask: (home, as) => home.endKey(as, 'x', NOON) },
  rotateAgentToken: {
    right: 'operators',
    ask: (home, as) => home.rotateAgentToken(as, randomUUID(), NOON),
  },
  replaceOperatorToken: {
    right: 'operators',
    ask: (home, as) => home.replaceOperatorToken(as, token, NOON),
  },
  eraseAgent: { right: 'operators', ask: (home, as) => home.eraseAgent(as, NOON) },
}

/** By the key that asks, inside and outside of its prefix. */
const expected: Readonly<Record<Right, Readonly<Record<string, string>>>> = {
  'asks nobody': {},
  'any key': { inside: 'answered', outside: 'answered', reader: 'answered' },
  'whole home': { inside: 'key_out_of_reach', outside: 'key_out_of_reach', reader: 'answered' },
  reads: { inside: 'answered', outside: 'key_out_of_reach', reader: 'answered' },
  writes: { inside: 'answered', outside: 'key_out_of_reach', reader: 'key_read_only' },
  operators: {
    inside: 'insufficient_scope',
    outside: 'insufficient_scope',
    reader: 'insufficient_scope',
  },
}

async function outcomeOf(ask: () => unknown): Promise<string> {
  try {
    await ask()
    return 'answered'
  } catch (error) {
    if (error instanceof Problem) return error.code
    throw error
  }
}

let fixture: StoreFixture
let home: HomeStore
let born: StoredAgent
beforeAll(async () => {
  fixture = await openFixture(embedded)
  home = authorizedStore(fixture.store(), () => NOON)
})
afterAll(() => fixture.close())
beforeEach(async () => {
  born = await fixture.agent()
})

async function keyed(overrides: Partial<KeyBounds>): Promise<Identity> {
  const tokenHash = randomUUID()
  const key = { ...bounds, id: randomUUID(), ...overrides }
  await fixture.store().createKey(born.operator, key, tokenHash, NOON)
  return { ...born.agent, tokenHash, key }
}

test('every verb of the port has its row', () => {
  expect(Object.keys(home).toSorted()).toEqual(Object.keys(rows).toSorted())
})

const asking = Object.entries(rows).filter(([, { right }]) => right !== 'asks nobody')

describe.each(asking)('%s', (_, { right, ask }) => {
  test('is for whom it is for', async () => {
    const writer = await keyed({ prefix: 'in.' })
    const reader = await keyed({ access: 'read' })
    expect({
      inside: await outcomeOf(() => ask(home, writer, 'in.a')),
      outside: await outcomeOf(() => ask(home, writer, 'out')),
      reader: await outcomeOf(() => ask(home, reader, 'in.a')),
    }).toEqual(expected[right])
    const whole = right === 'operators' ? 'insufficient_scope' : 'answered'
    expect(await outcomeOf(() => ask(home, born.agent, 'out'))).toBe(whole)
    expect(await outcomeOf(() => ask(home, born.operator, 'out'))).toBe('answered')
  })

  test('is not for a key that has expired', async () => {
    const [ending, ended] = [NOON + 1, NOON].map((expiresAt) => ({ ...bounds, expiresAt }))
    const outcome = (key: KeyBounds | undefined) =>
      outcomeOf(() => ask(home, { ...born.agent, ...(key && { key }) }, 'a'))
    expect(await outcome(ended)).toBe('key_expired')
    expect(await outcome(ending)).not.toBe('key_expired')
  })
})

describe('what is shown to a key with a prefix', () => {
  const written = ['a', 'in', 'in.', 'in.a', 'in.b', 'io']
  beforeEach(async () => {
    for (const key of written) await fixture.write(born.agent, { key })
  })

  const listed = async (as: Identity, prefix: string) => {
    const answer = await home.listMemories(as, newQuery({ prefix }))
    return answer.outcome === 'memories' ? answer.memories.map(({ key }) => key) : answer.outcome
  }

  test('is what lies under it, and under the prefix that is asked for', async () => {
    const key = await keyed({ prefix: 'in.' })
    expect(await listed(key, '')).toEqual(['in.', 'in.a', 'in.b'])
    expect(await listed(key, 'i')).toEqual(['in.', 'in.a', 'in.b'])
    expect(await listed(key, 'in.b')).toEqual(['in.b'])
    expect(await listed(born.agent, 'in')).toEqual(['in', 'in.', 'in.a', 'in.b'])
  })

  test('is no more of an export, which counts what it has', async () => {
    const answer = await home.exportMemories(await keyed({ prefix: 'in.' }))
    if (answer.outcome !== 'export') throw new Error(answer.outcome)
    const memories = (await Array.fromAsync(answer.memories)).flat()
    answer.close()
    expect([answer.memoryCount, memories.length]).toEqual([3, 3])
  })

  type Shown = Pick<HomeEvent, 'id' | 'key' | 'from'>

  /** As many as come, looking on until all of the log was looked through. */
  const events = async (as: Identity, after = 0, limit = 100): Promise<Shown[]> => {
    const answer = await home.eventsAfter(as, after, limit)
    if (answer.outcome !== 'events') throw new Error(answer.outcome)
    const shown = answer.events.map(({ id, key, from }) => ({ id, key, from }))
    if (shown.length === limit || answer.reached >= answer.newest) return shown
    return [...shown, ...(await events(as, answer.reached, limit - shown.length))]
  }

  const rename = (from: string, to: string, expectedVersion = 1) =>
    fixture
      .store()
      .changeMemories(born.agent, [{ verb: 'rename', from, to, expectedVersion }], NOON)

  test('is what happened to it, in pages of any length', async () => {
    const key = await keyed({ prefix: 'in.' })
    await fixture.write(born.agent, { key: 'b' })
    const all = [3, 4, 5].map((id) => expect.objectContaining({ id }))
    expect(await events(key)).toEqual(all)
    expect(await events(key, 0, 2)).toEqual(all.slice(0, 2))
    expect(await events(key, 4, 2)).toEqual(all.slice(2))
    expect(await events(key, 5)).toEqual([])
    expect(await events(born.agent)).toHaveLength(8)
  })

  test('is of a rename only the name that it reaches', async () => {
    const key = await keyed({ prefix: 'in.' })
    await rename('in.a', 'gone')
    await rename('a', 'in.new')
    await rename('in.b', 'in.c')
    await rename('io', 'iq')
    expect((await events(key)).slice(3)).toEqual([
      { id: 8, key: undefined, from: 'in.a' },
      { id: 9, key: 'in.new', from: undefined },
      { id: 10, key: 'in.c', from: 'in.b' },
    ])
  })

  test('is found in a log that is longer than one look', async () => {
    const key = await keyed({ prefix: 'in.' })
    const pause = () => fixture.store().recordEvent(born.operator, 'export', NOON)
    await Promise.all(Array.from({ length: 1_200 }, pause))
    await fixture.write(born.agent, { key: 'in.z' })
    expect(await events(key, 5)).toMatchObject([{ key: 'in.z' }])
    expect(await events(key, 0, 1)).toMatchObject([{ id: 3 }])
  })

  test('a batch is refused where one change leads out, or one writes with a key that reads', async () => {
    const inside: Change = { verb: 'read', key: 'in.a' }
    const outcome = (as: Identity, ...changes: Change[]) =>
      outcomeOf(() => home.changeMemories(as, changes, NOON))
    const [writer, reader] = [
      await keyed({ prefix: 'in.' }),
      await keyed({ prefix: 'in.', access: 'read' }),
    ]
    const out = { verb: 'rename', from: 'in.a', to: 'x', expectedVersion: 1 } as const
    const back = { verb: 'rename', from: 'a', to: 'in.x', expectedVersion: 1 } as const
    expect(await outcome(writer, inside, remove('in.b'))).toBe('answered')
    expect(await outcome(writer, inside, { verb: 'read', key: 'a' })).toBe('key_out_of_reach')
    expect(await outcome(writer, out)).toBe('key_out_of_reach')
    expect(await outcome(writer, back)).toBe('key_out_of_reach')
    expect(await outcome(reader, inside)).toBe('answered')
    expect(await outcome(reader, inside, remove('in.b'))).toBe('key_read_only')
    const vectorsOf = (as: Identity, ...keys: string[]) =>
      outcomeOf(() => {
        const vector = Float32Array.of(1)
        const vectors = keys.map((key) => ({ key, version: 1, vector }))
        return home.storeVectors(as, 'm', vectors)
      })
    expect(await vectorsOf(writer, 'in.a', 'in.b')).toBe('answered')
    expect(await vectorsOf(writer, 'in.a', 'a')).toBe('key_out_of_reach')
    expect(await vectorsOf(reader, 'in.a')).toBe('key_read_only')
  })
})

test('a use is noted at most once a minute, and waited for by nobody', async () => {
  const noted: number[] = []
  let now = NOON
  const key = await keyed({ expiresAt: NOON + 200_000 })
  const store: HomeStore = {
    ...fixture.store(),
    identify: () => key,
    noteUse(_, at) {
      noted.push(at)
      return Promise.reject(new Error('the store is full'))
    },
  }
  const watched = authorizedStore(store, () => now)
  for (const at of [0, 1, 59_999, 60_000, 119_999, 120_001, 200_000, 300_000]) {
    now = NOON + at
    expect(watched.identify(key.tokenHash)).toBe(key)
  }
  expect(noted.map((at) => at - NOON)).toEqual([0, 60_000, 120_001])
})
