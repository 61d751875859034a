/** An index that is kept up by events answers as one that is built anew, whatever happened. */
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Change, Erasure } from '../../../src/store/port/memories.ts'
import type { KeptVersion } from '../../../src/store/port/transfer.ts'
import { timesPromised } from '../../effort.ts'
import { stores } from '../../harness.ts'
import { NOON, openFixture, type StoreFixture } from '../fixture.ts'
import { openIndexes, searchAnew, sourceOf } from './indexed.ts'

const KEYS = ['a.one', 'a.two', 'b.one', 'b.two', 'c']
const QUESTIONS = ['Where are the red apples?', 'книгою', 'Rechnung', 'one', '"red apple"', 'aple']

const key = fc.constantFrom(...KEYS)
const text = fc.constantFrom(
  'a red apple',
  'red and an apple',
  'червона книга',
  'die Stromrechnung für April',
  'nothing of it',
)

type Step =
  | { readonly changes: readonly { readonly verb: Change['verb']; key: string; text: string }[] }
  | { readonly erase: Erasure; readonly key: string }
  | { readonly imported: readonly { readonly key: string; readonly text: string }[] }
  | { readonly restart: true }

const change = fc.record({
  verb: fc.constantFrom<Change['verb']>(
    'write',
    'write',
    'patch',
    'append',
    'delete',
    'restore',
    'rename',
  ),
  key,
  text,
})

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ changes: fc.array(change, { minLength: 1, maxLength: 4 }) }),
  },
  { weight: 2, arbitrary: fc.record({ erase: fc.constantFrom<Erasure>('all', 'history'), key }) },
  {
    weight: 1,
    arbitrary: fc.record({
      imported: fc.uniqueArray(fc.record({ key, text }), {
        minLength: 1,
        selector: (of) => of.key,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ restart: true } as const) },
)

describe.each(stores)('a kept index on $name', (engine) => {
  let fixture: StoreFixture
  // Few events are kept, so that some are missed.
  beforeAll(async () => {
    fixture = await openFixture(engine, { events: 64 })
  })
  afterAll(() => fixture.close())

  const versionOf = async (identity: Identity, of: string): Promise<number> => {
    const found = await fixture.store().readMemory(identity, of)
    return found.outcome === 'found' ? found.memory.version : 0
  }

  async function changeOf(
    identity: Identity,
    { verb, key: of, text: its }: { verb: Change['verb']; key: string; text: string },
  ): Promise<Change> {
    const expectedVersion = await versionOf(identity, of)
    const to = KEYS[(KEYS.indexOf(of) + 1) % KEYS.length] ?? of
    if (verb === 'rename') return { verb, from: of, to, expectedVersion }
    if (verb === 'restore') return { verb, key: of, version: 1, expectedVersion }
    if (verb === 'delete') return { verb, key: of, expectedVersion }
    const id = randomUUID()
    if (verb === 'append') return { verb, id, key: of, text: ` ${its}`, maxBytes: 16_384 }
    if (verb === 'patch') return { verb, key: of, text: its, expectedVersion }
    return { verb: 'write', id, key: of, text: its, metadata: '{}', expectedVersion }
  }

  /** What cannot be done is refused, and nothing of its batch is done. */
  async function take(operator: Identity, done: Step): Promise<void> {
    const store = fixture.store()
    if ('restart' in done) await fixture.restart()
    else if ('erase' in done) await store.eraseMemory(operator, done.key, done.erase, NOON)
    else if ('imported' in done) {
      const versions = done.imported.map(
        (each): KeptVersion => ({
          ...{ key: each.key, version: 1, id: randomUUID(), operation: 'write', by: undefined },
          ...{ createdAt: NOON, updatedAt: NOON, content: { text: each.text, metadata: '{}' } },
        }),
      )
      const source = async function* () {
        yield versions
      }
      const from = { [Symbol.asyncIterator]: source }
      await store.importMemories(operator, from, { onConflict: 'replace', dryRun: false }, NOON)
    } else {
      const changes: Change[] = []
      for (const each of done.changes) changes.push(await changeOf(operator, each))
      await store.changeMemories(operator, changes, NOON)
    }
  }

  const withPrefix = (identity: Identity, prefix: string): Identity => ({
    ...identity,
    key: { id: randomUUID(), name: 'part', access: 'read', prefix, expiresAt: undefined },
  })

  test('answers as one that is built anew', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }),
        async (steps) => {
          const { agent, operator } = await fixture.agent()
          const readers = [agent, withPrefix(agent, 'a.')]
          for (const each of steps) {
            await take(operator, each)
            for (const [at, q] of QUESTIONS.entries()) {
              const reader = readers[at % 2] ?? agent
              const query = { q, prefix: reader.key?.prefix ?? '', limit: 10 }
              const { looked: _, ...answer } = {
                looked: 0,
                ...(await fixture.store().searchMemories(reader, query)),
              }
              const { looked: __, ...anew } = {
                looked: 0,
                ...(await searchAnew(fixture.store(), reader, query)),
              }
              expect(answer).toEqual(anew)
            }
          }
        },
      ),
      { numRuns: timesPromised(12) },
    )
  })

  test('reads nothing anew where nothing changed, and what changed where something did', async () => {
    const { agent } = await fixture.agent()
    await fixture.write(agent, { key: 'a', text: 'a red apple' })
    await fixture.write(agent, { key: 'b', text: 'x'.repeat(5_000) })
    const query = { q: 'apple', prefix: '', limit: 10 }
    const looked = async () => {
      const answer = await fixture.store().searchMemories(agent, query)
      return answer.outcome === 'hits' ? answer.looked : answer
    }
    const shown = 'a red apple{}'.length
    expect(await looked()).toBe(shown + 5_002 + shown)
    expect(await looked()).toBe(shown)
    await fixture.write(agent, { key: 'b', text: 'y'.repeat(7_000), expectedVersion: 1 })
    expect(await looked()).toBe(7_002 + shown)
  })

  test('is gone when an erasure answers', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'b']) await fixture.write(agent, { key, text: 'a red apple' })
    const query = { q: 'apple', prefix: '', limit: 1 }
    await fixture.store().searchMemories(agent, query)
    await fixture.store().eraseMemory(operator, 'a', 'all', NOON)
    // It is built anew from what is left: that of one memory, and the one that is shown.
    const answer = await fixture.store().searchMemories(agent, query)
    expect(answer).toMatchObject({ hits: [{ key: 'b' }], looked: 2 * 'a red apple{}'.length })
  })

  test('is built anew by another node that was not told of an erasure', async () => {
    const { agent, operator } = await fixture.agent()
    for (const key of ['a', 'b']) await fixture.write(agent, { key, text: 'a red apple' })
    const other = openIndexes(sourceOf(fixture.store()))
    const query = { q: 'apple', prefix: '', limit: 1 }
    await other.search(agent, query)
    await fixture.store().eraseMemory(operator, 'a', 'all', NOON)
    const answer = await other.search(agent, query)
    expect(answer).toMatchObject({ hits: [{ key: 'b' }], looked: 2 * 'a red apple{}'.length })
    other.close()
  })

  test('is built anew where the home was turned back', async () => {
    const [first, second] = [await fixture.agent(), await fixture.agent()]
    await fixture.write(first.agent, { key: 'a', text: 'a red apple' })
    await fixture.write(second.agent, { key: 'b', text: 'a red apple' })
    await fixture.write(second.agent, { key: 'c', text: 'a red apple' })
    let now = first.agent
    const store = sourceOf(fixture.store())
    // As many events, or more, and others: as after a backup was restored and written to.
    const indexes = openIndexes({
      eventsAfter: (_, ...after) => store.eventsAfter(now, ...after),
      readMemory: (_, key) => store.readMemory(now, key),
      readSlice: (_, ...slice) => store.readSlice(now, ...slice),
      vectorsAfter: (_, ...after) => store.vectorsAfter(now, ...after),
    })
    const query = { q: 'apple', prefix: '', limit: 10 }
    const found = async () => {
      const answer = await indexes.search(first.agent, query)
      return answer.outcome === 'hits' ? answer.hits.map((hit) => hit.key).toSorted() : answer
    }
    expect(await found()).toEqual(['a'])
    now = second.agent
    expect(await found()).toEqual(['b', 'c'])
    now = first.agent
    expect(await found()).toEqual(['a'])
    indexes.close()
  })
})
