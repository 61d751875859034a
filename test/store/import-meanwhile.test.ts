/** While an import comes its home is open, on every engine; it becomes what it would after all that. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type {
  ImportAnswer,
  ImportOrder,
  KeptVersion,
  OnConflict,
} from '../../src/store/port/transfer.ts'
import { times } from '../effort.ts'
import { stores } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { checkChain } from './chained.ts'
import { NOON, openFixture, type StoreFixture } from './fixture.ts'
import { kept } from './kept.ts'
import { type PlainHome, plainHome } from './memories/plain-home.ts'
import { changeOf, erasureOf, KEYS, type Round, round } from './memories/steps.ts'

const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

const ID = '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e'

type Do = (identity: Identity) => Promise<unknown>

const nothing: Do = async () => {}

interface Race {
  readonly before: readonly Do[]
  /** One between two versions of the source each, and the rest after its last. */
  readonly meanwhile: readonly Do[]
  readonly sent: readonly KeptVersion[]
  readonly onConflict: OnConflict
  /** While it is counted, before anything is written. */
  readonly early?: boolean
}

/** One between two versions each, and the rest after the last. */
async function* source(versions: readonly KeptVersion[], meanwhile: readonly (() => unknown)[]) {
  for (const [at, version] of versions.entries()) {
    yield [version]
    const isLast = at === versions.length - 1
    for (const each of meanwhile.slice(at, isLast ? undefined : at + 1)) await each()
  }
}

/** What happens meanwhile does when it is written, or `early`. */
const once = (
  versions: readonly KeptVersion[],
  meanwhile: readonly (() => unknown)[] = [],
  early = false,
) => {
  const rest = [...meanwhile]
  let reads = early ? 1 : 0
  return { [Symbol.asyncIterator]: () => source(versions, reads++ > 0 ? rest.splice(0) : []) }
}

const brought = fc.uniqueArray(fc.record({ key: fc.constantFrom(...KEYS), version: fc.nat(8) }), {
  selector: ({ key, version }) => `${key} ${version}`,
  minLength: 1,
})

const inOrder = (versions: readonly { readonly key: string; readonly version: number }[]) =>
  versions
    .toSorted((a, b) => a.key.localeCompare(b.key) || a.version - b.version)
    .map(({ key, version }) => kept(key, version + 1, version % 4 === 3 ? undefined : 'sent'))

describe.each(stores)('on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  /** What can be seen of a home, but when its events were. */
  async function stateOf(identity: Identity) {
    const store = fixture.store()
    const left = await store.exportMemories(identity, '', true)
    const log = await store.eventsAfter(identity, 0, 10_000)
    if (left.outcome !== 'export' || log.outcome !== 'events') throw new Error(left.outcome)
    const memories = (await Array.fromAsync(left.memories)).flat()
    const all = (await Array.fromAsync(left.history ?? [])).flat()
    left.close()
    // Salts, and what follows from them, are each home's own.
    const history = all.map(({ salt, ...version }) => ({ ...version, salt: typeof salt }))
    const events = log.events.map(({ content, hash: _, ...event }) => ({
      ...{ ...event, content: typeof content },
    }))
    expect((await checkChain(store, identity)).faults).toEqual([])
    const profile = await store.readProfile(identity)
    if (profile.outcome !== 'profile') throw new Error(profile.outcome)
    const { memoryCount, bytes } = profile
    return { memories, history, memoryCount, bytes, events }
  }

  /** Whatever it is, as far as a home of whom nothing was imported can tell. */
  function doing(home: PlainHome, each: Round): Do {
    const { now } = each
    if ('erasing' in each) {
      const { key } = each.erasing
      const erasure = erasureOf(home, each.erasing)
      home.erase(key, erasure, now)
      return (identity) => fixture.store().eraseMemory(identity, key, erasure, now)
    }
    const changes = each.steps.map((step) => changeOf(home, step))
    home.change(changes, now)
    return (identity) => fixture.store().changeMemories(identity, changes, now)
  }

  test('whoever writes to the home between two pieces of an import is answered', async () => {
    const { agent, operator } = await fixture.agent()
    const write = () => fixture.write(agent, { key: 'mine', text: 'meanwhile' })
    const seen: unknown[] = []
    const look = async () => seen.push(await stateOf(agent))
    const empty = await stateOf(agent)
    const sent = ['a', 'b', 'c'].map((key) => kept(key, 1, 'x'))
    const answer = await fixture
      .store()
      .importMemories(operator, once(sent, [look, write]), REPLACE, NOON)
    expect([answer.outcome, seen]).toEqual(['imported', [empty]])
    const { memories, events } = await stateOf(agent)
    expect(memories.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'mine'])
    expect(events.map(({ type }) => type)).toEqual([
      ...['write', 'begin_import', 'import', 'import', 'import', 'end_import'],
    ])
  })

  const write =
    (key: string, expectedVersion = 0): Do =>
    (identity) =>
      fixture.write(identity, { id: ID, key, expectedVersion })
  const remove =
    (key: string): Do =>
    (identity) =>
      fixture.store().changeMemories(identity, [{ verb: 'delete', key, expectedVersion: 1 }], NOON)

  async function outcomeOf(race: Race): Promise<ImportAnswer> {
    const { before, meanwhile, sent, onConflict, early = false } = race
    const { operator: beside } = await fixture.agent()
    const { operator: after } = await fixture.agent()
    for (const each of before) for (const identity of [beside, after]) await each(identity)
    const order = { onConflict, dryRun: false }
    const bring = (identity: Identity, late: readonly (() => unknown)[]) =>
      fixture.store().importMemories(identity, once(sent, late, early), order, NOON)
    let happened = 0
    const answer = await bring(
      beside,
      meanwhile.map((each) => () => {
        happened++
        return each(beside)
      }),
    )
    const isOver = answer.outcome !== 'imported' || answer.imported === 0
    expect(happened).toBe(early || !isOver ? meanwhile.length : happened)
    for (const each of meanwhile.slice(0, happened)) await each(after)
    expect(await bring(after, [])).toEqual(answer)
    expect(await stateOf(beside)).toEqual(await stateOf(after))
    return answer
  }

  const sent = [kept('a', 1, 'x'), kept('a', 2, 'sent'), kept('z', 1, 'sent')]

  const races: Readonly<Record<string, [race: Omit<Race, 'sent'>, became: object]>> = {
    'a key that it left as it was is deleted': [
      { before: [write('a')], meanwhile: [nothing, nothing, remove('a')], onConflict: 'skip' },
      { imported: 2, skipped: 0 },
    ],
    'the memory that forbade it is deleted': [
      {
        ...{ before: [write('a')], meanwhile: [nothing, nothing, remove('a')] },
        ...{ onConflict: 'fail', early: true },
      },
      { imported: 2, conflicts: [] },
    ],
    'what it went on from is there again': [
      {
        ...{ before: [write('a'), remove('a')], meanwhile: [nothing, nothing, write('a')] },
        onConflict: 'skip',
      },
      { imported: 1, skipped: 1 },
    ],
    'a key gets a memory between two of its versions': [
      { before: [], meanwhile: [nothing, write('a')], onConflict: 'replace' },
      { imported: 2, conflicts: ['a'] },
    ],
    'a key gets a memory, and it is not to be replaced': [
      { before: [], meanwhile: [nothing, nothing, write('a')], onConflict: 'skip' },
      { imported: 1, skipped: 1 },
    ],
  }

  test.each(Object.entries(races))('meanwhile %s', async (_, [race, became]) => {
    expect(await outcomeOf({ ...race, sent })).toMatchObject(became)
  })

  test('whatever is changed meanwhile, it is as if it all came after that', async () => {
    const some = fc.array(round, { maxLength: 6 })
    const onConflict = fc.constantFrom('skip', 'replace', 'fail' as const)
    const early = fc.boolean()
    const all = fc.record({ first: some, second: some, versions: brought, onConflict, early })
    await fc.assert(
      fc.asyncProperty(all, async ({ first, second, versions, ...how }) => {
        const home = plainHome(unbounded.home)
        const [before = [], meanwhile = []] = [first, second].map((rounds) =>
          rounds.map((each) => doing(home, each)),
        )
        await outcomeOf({ before, meanwhile, sent: inOrder(versions), ...how })
      }),
      { numRuns: times(24) },
    )
  })
})
