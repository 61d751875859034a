/** What exports that overlap without end do to the write-ahead log of the embedded engine. */
import { statSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { times } from '../effort.ts'
import { embedded, inGroups } from '../harness.ts'
import { openFixture, type StoreFixture } from './fixture.ts'

const MIB = 1_048_576
const KEYS = 20
const ROUNDS = times(60)

type Snapshot = Awaited<ReturnType<typeof begin>>

async function begin({ store }: StoreFixture, identity: Identity) {
  const answer = await store().exportMemories(identity)
  if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
  return answer
}

async function end({ memories, close }: Snapshot): Promise<void> {
  expect((await Array.fromAsync(memories)).flat().length).toBe(KEYS)
  close()
}

test('the log starts anew, though one export begins before another ends, for as long as they do', async () => {
  const database = await embedded.fresh()
  const fixture = await openFixture({ ...embedded, fresh: async () => database })
  const { agent: writing } = await fixture.agent()
  const exporting = [writing, (await fixture.agent()).agent]
  const writeAll = async (identity: Identity, expectedVersion: number) => {
    const written = await inGroups(
      Array(KEYS).fill(`${expectedVersion % 10}`.repeat(16_000)),
      (text, n) => fixture.write(identity, { key: `k${n}`, text, expectedVersion }),
    )
    expect(written.map(({ outcome }) => outcome)).toEqual(Array(KEYS).fill('saved'))
  }
  for (const identity of exporting) await writeAll(identity, 0)

  let running = await begin(fixture, writing)
  for (let round = 1; round <= ROUNDS; round++) {
    for (let n = 0; n < 5; n++) await writeAll(writing, (round - 1) * 5 + n + 1)
    const next = begin(fixture, exporting[round % 2] ?? writing)
    await end(running)
    running = await next
  }
  await end(running)
  // 6,000 writes of 16 KB are 100 MB and more.
  const log = statSync(`${database.url.replace('sqlite:', '')}-wal`)
  expect(log.size).toBeLessThan(44 * MIB)
  await fixture.close()
})
