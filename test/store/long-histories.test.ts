/** What is read of a memory's newest versions costs no more where the history is long. */
import { describe, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { KeptVersion } from '../../src/store/port/transfer.ts'
import { stores } from '../harness.ts'
import { NOON, openFixture } from './fixture.ts'

const LONG = 4_000
const SHORT = 40
const READS = 30
/** A walk through all versions takes many times as long. */
const AT_MOST = 6

/** So many versions of a memory, as a file has them. */
const history = (key: string, versions: number) =>
  Array.from({ length: versions }, (_, n): KeptVersion => {
    const content = { text: `text ${n}`, metadata: '{}' }
    const times = { createdAt: NOON, updatedAt: NOON + n }
    return {
      key,
      id: `of-${key}`,
      version: n + 1,
      operation: 'write',
      by: undefined,
      content,
      ...times,
    }
  })

const source = {
  async *[Symbol.asyncIterator]() {
    yield history('long', LONG)
    yield history('short', SHORT)
  },
}

/** The least of some, so that what else the machine does decides nothing. */
async function least(work: () => Promise<unknown>): Promise<number> {
  let found = Number.POSITIVE_INFINITY
  for (let n = 0; n < READS; n++) {
    const since = performance.now()
    await work()
    found = Math.min(found, performance.now() - since)
  }
  return found
}

describe.each(stores)('on $name', (engine) => {
  test('the newest versions are found at once, however many are before them', async () => {
    await using fixture = await openFixture(engine)
    const { operator } = await fixture.agent()
    const store = fixture.store()
    const order = { onConflict: 'fail', dryRun: false } as const
    const answer = await store.importMemories(operator, source, order, NOON)
    expect(answer).toMatchObject({ outcome: 'imported', imported: 2 })
    const reads = [
      (by: Identity, key: string, newest: number) => store.readVersion(by, key, newest - 3),
      (by: Identity, key: string) => store.listVersions(by, key, undefined, 10),
    ]
    for (const read of reads) {
      expect((await read(operator, 'long', LONG)).outcome).toMatch(/^(found|versions)$/)
      const short = await least(() => read(operator, 'short', SHORT))
      const long = await least(() => read(operator, 'long', LONG))
      expect(long).toBeLessThan(AT_MOST * short)
    }
  })
})
