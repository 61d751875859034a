/** On the embedded engine: what an import becomes beside changes of the same keys. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/home.ts'
import type { Change } from '../../src/store/port/keeping/memories.ts'
import type { ImportAnswer, KeptVersion, OnConflict } from '../../src/store/port/transfer.ts'
import { transact } from '../../src/store/sqlite/engine/connection.ts'
import { timesPromised } from '../effort.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newWrite } from './fixture.ts'
import {
  db,
  kept,
  newHome,
  openDatabase,
  openWork,
  sourceOf,
  stateOf,
  type Work,
} from './import-work.ts'
import { plainHome } from './keeping/plain-home.ts'
import { changeOf, erasureOf, KEYS, type Round, round } from './keeping/steps.ts'

openDatabase()

type Do = (verbs: Work['verbs'], identity: Identity) => unknown

interface Race {
  readonly before: readonly Do[]
  /** One between two writes of the import each, and the rest before its last. */
  readonly meanwhile: readonly Do[]
  readonly sent: readonly KeptVersion[]
  readonly onConflict: OnConflict
  /** While it is counted, before anything is written. */
  readonly early?: boolean
}

/** Before an import begins, and after it has ended: what is changed then is not beside it. */
const OUTSIDE: ReadonlySet<string> = new Set(['dropImport', 'pruneHome'])

/**
 * What an import becomes beside others' changes: what it becomes after them, or without them where
 * it has ended before.
 */
async function outcomeOf(race: Race): Promise<ImportAnswer> {
  const { before, meanwhile, sent, onConflict, early = false } = race
  const rest = [...meanwhile]
  const order = { onConflict, dryRun: false }
  const source = sourceOf(() => sent, 0)
  let isCounted = early
  const work = openWork((verb) => {
    if (!isCounted) {
      isCounted = verb === 'finishImport'
      return
    }
    if (OUTSIDE.has(verb)) return
    const due = verb === 'finishImport' ? rest.length : 1
    for (const each of rest.splice(0, due)) make(each)
  })
  const [beside, after] = [newHome(work), newHome(work)]
  const make = (each: Do) => {
    for (const identity of [beside, after]) transact(db, () => each(work.verbs, identity))
  }
  before.forEach(make)
  const answer = await work.importMemories(beside, source, order, NOON)
  const isOver = answer.outcome !== 'imported' || answer.imported === 0
  expect(early || !isOver ? rest : []).toEqual([])
  expect(await openWork().importMemories(after, source, order, NOON)).toEqual(answer)
  expect(stateOf(beside)).toEqual(stateOf(after))
  return answer
}

const change =
  (...changes: Change[]): Do =>
  ({ changeMemories }, identity) =>
    changeMemories(identity, changes, NOON)

const write = (key: string, expectedVersion: number): Do =>
  change({ verb: 'write', ...newWrite({ id: '019a', key, expectedVersion }) })
const remove = (key: string, expectedVersion: number): Do =>
  change({ verb: 'delete', key, expectedVersion })
const nothing: Do = () => {}

const sent = [kept('a', 1, 'x'), kept('a', 2, 'sent'), kept('z', 1, 'sent')]

const races: Readonly<Record<string, [race: Race, became: object]>> = {
  'a key that it left as it was is deleted': [
    {
      ...{ before: [write('a', 0)], meanwhile: [nothing, nothing, remove('a', 1)] },
      ...{ sent, onConflict: 'skip' },
    },
    { imported: 2, skipped: 0 },
  ],
  'the memory that forbade it is deleted': [
    {
      ...{ before: [write('a', 0)], meanwhile: [nothing, nothing, remove('a', 1)] },
      ...{ sent, onConflict: 'fail', early: true },
    },
    { imported: 2, conflicts: [] },
  ],
  'what it went on from is there again': [
    {
      ...{ before: [write('a', 0), remove('a', 1)], meanwhile: [nothing, nothing, write('a', 0)] },
      ...{ sent, onConflict: 'skip' },
    },
    { imported: 1, skipped: 1 },
  ],
  'a key gets a memory between two of its versions': [
    { before: [], meanwhile: [nothing, write('a', 0)], sent, onConflict: 'replace' },
    { imported: 2, conflicts: ['a'] },
  ],
  'a key gets a memory, and it is not to be replaced': [
    { before: [], meanwhile: [nothing, nothing, write('a', 0)], sent, onConflict: 'skip' },
    { imported: 1, skipped: 1 },
  ],
}

test.each(Object.entries(races))('meanwhile %s', async (_, [race, became]) => {
  expect(await outcomeOf(race)).toMatchObject(became)
})

/** Whatever it is, as far as a home of whom nothing was imported can tell. */
function doing(home: ReturnType<typeof plainHome>, each: Round): Do {
  const { now } = each
  if ('erasing' in each) {
    const { key } = each.erasing
    const erasure = erasureOf(home, each.erasing)
    home.erase(key, erasure, now)
    return ({ eraseMemory }, identity) => eraseMemory(identity, key, erasure, now)
  }
  const changes = each.steps.map((step) => changeOf(home, step))
  home.change(changes, now)
  return ({ changeMemories }, identity) => changeMemories(identity, changes, now)
}

const brought = fc.uniqueArray(fc.record({ key: fc.constantFrom(...KEYS), version: fc.nat(8) }), {
  selector: ({ key, version }) => `${key} ${version}`,
  minLength: 1,
})

const inOrder = (versions: readonly { readonly key: string; readonly version: number }[]) =>
  versions
    .toSorted((a, b) => a.key.localeCompare(b.key) || a.version - b.version)
    .map(({ key, version }) => kept(key, version + 1, version % 4 === 3 ? undefined : 'sent'))

test('whatever is changed meanwhile, it is as if it all came after that', async () => {
  const some = fc.array(round, { maxLength: 6 })
  const onConflict = fc.constantFrom('skip', 'replace', 'fail' as const)
  const early = fc.boolean()
  const all = fc.record({ first: some, second: some, versions: brought, onConflict, early })
  await fc.assert(
    fc.asyncProperty(all, async ({ first, second, versions, ...how }) => {
      const home = plainHome(unbounded.home)
      const [before, meanwhile] = [first, second].map((rounds) =>
        rounds.map((each) => doing(home, each)),
      )
      const race = { before: before ?? [], meanwhile: meanwhile ?? [] }
      await outcomeOf({ ...race, sent: inOrder(versions), ...how })
    }),
    { numRuns: timesPromised(100) },
  )
})
