/** What the words of strangers take on the disk: near what they count, and never past the bound. */
import { randomBytes, randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import type { NewEntry } from '../../src/store/port/gateway.ts'
import type { FeedBounds } from '../../src/store/port/store.ts'
import { released } from '../fixtures/released.ts'
import { embedded } from '../harness.ts'
import { NOON } from '../store/fixture.ts'
import { unbounded } from '../unbounded.ts'

const BOUND = 1_048_576

/** No word twice: the worst for an index. */
const randomWords = (bytes: number): string =>
  (randomBytes(bytes).toString('hex').match(/.{9}/g) ?? []).join(' ').slice(0, bytes)

const entryOf = (text: string): NewEntry => ({
  id: randomUUID(),
  feed: 'seeds',
  room: 'memory-garden',
  text,
  identity: 'anonymous',
  identityType: 'ai',
  details: '{}',
  labels: ['room:memory-garden'],
  createdAt: NOON,
})

/** Bytes that a database takes beyond an empty one, after so many entries of random words, in groups. */
async function sizeAfter(entries: number, textBytes: number, feed: FeedBounds): Promise<number> {
  const database = await embedded.fresh()
  const file = join(await database.directory(), 'home.db')
  const empty = statSync(file).size
  const store = await openStore(database.url, NOON, { ...unbounded, feed })
  const leave = () => store.leaveEntry(entryOf(randomWords(textBytes)))
  for (let left = 0; left < entries; left += 8) await Promise.all(Array.from({ length: 8 }, leave))
  await store.close()
  const { size } = statSync(file)
  await database.drop()
  return size - empty
}

test('64 KiB of random words take little more than their bytes', async () => {
  const size = await sizeAfter(16, 65_000, unbounded.feed)
  expect(size).toBeLessThan(16 * 65_000 * 1.3)
})

test.each([
  ['long', 80, 30_000],
  ['middling', 800, 2_000],
  ['short', 4_000, 100],
])('a feed that never ends, of %s texts, stays near its bound', async (_, entries, textBytes) => {
  const size = await sizeAfter(entries, textBytes, { entries: 0, bytes: BOUND })
  expect(size).toBeLessThan(1.75 * BOUND)
})

test.each(released)('entries of an earlier release count: $name', async ({ fresh }) => {
  const database = await fresh()
  const feed = { entries: 0, bytes: 1_000 }
  const store = await openStore(database.url, NOON, { ...unbounded, feed })
  const query = { feed: 'seeds', labels: [], before: undefined, limit: 9 }
  expect((await store.readFeed(query)).entries.length).toBeGreaterThan(1)
  await store.leaveEntry(entryOf('new'))
  expect((await store.readFeed(query)).entries.map(({ text }) => text)).toEqual(['new'])
  await store.close()
  await database.drop()
})
