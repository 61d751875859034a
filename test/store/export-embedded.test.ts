/** How the embedded engine reads an export, in one process with everything else. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { openReader, pathOf } from '../../src/store/sqlite/engine/connection.ts'
import { boundLog } from '../../src/store/sqlite/engine/long-reads.ts'
import { openExport, whileLetIn } from '../../src/store/sqlite/transfer/export.ts'
import { processTimers } from '../../src/timers.ts'
import { embedded, type TestDatabase } from '../harness.ts'
import { openFixture, type StoredAgent, type StoreFixture } from './fixture.ts'

const KIB = 1_024
const MEMORIES = 100

let database: TestDatabase
let fixture: StoreFixture
let stored: StoredAgent
beforeAll(async () => {
  database = await embedded.fresh()
  fixture = await openFixture({ ...embedded, fresh: async () => database })
  stored = await fixture.agent()
  const metadata = '{"a":1}'
  const text = 'x'.repeat(KIB - metadata.length)
  const keys = Array.from({ length: MEMORIES }, (_, n) => ({ key: `k${n}`, text, metadata }))
  await Promise.all(keys.map((memory) => fixture.write(stored.agent, memory)))
})
afterAll(() => fixture.close())

const whole = (identity: Identity) => ({ identity, prefix: '', versions: undefined })

/** Memories of 1 KiB in each batch, and the turns of the event loop that pass after it. */
async function readThrough(asked: () => number) {
  const waits: number[] = []
  const pause = async (ms: number) => void waits.push(ms)
  const timers = { ...processTimers, pause }
  const answer = openExport(pathOf(database.url), whole(stored.agent), { asked, timers })
  if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
  const sizes: number[] = []
  let turns = 0
  let counting = true
  const count = () => {
    turns++
    if (counting) setImmediate(count)
  }
  setImmediate(count)
  for await (const batch of answer.memories) sizes.push(batch.length)
  counting = false
  answer.close()
  return { sizes, turns, waits }
}

test('alone, it reads 32 KiB before each turn of the event loop', async () => {
  const { sizes, turns } = await readThrough(() => 7)
  expect(sizes).toEqual([32, 32, 32, 4])
  expect(turns).toBeLessThanOrEqual(sizes.length)
})

test('while others ask, it reads 8 KiB and lets a millisecond pass', async () => {
  let asked = 0
  const { sizes, waits } = await readThrough(() => asked++)
  expect(sizes).toEqual([...Array(12).fill(8), 4])
  // One after each of the twelve, and none while it is alone.
  expect(waits).toEqual(Array(12).fill(1))
  expect((await readThrough(() => 7)).waits).toEqual([])
})

test('it hurries again once nobody asks', async () => {
  let looks = 0
  const { sizes } = await readThrough(() => Math.min(looks++, 3))
  expect(sizes).toEqual([8, 8, 8, 32, 32, 12])
})

test('a last batch that is full is not followed by an empty one', async () => {
  let asked = 0
  const { agent } = await fixture.agent()
  const text = 'x'.repeat(8 * KIB - 2)
  await fixture.write(agent, { text })
  const answer = openExport(pathOf(database.url), whole(agent), {
    asked: () => asked++,
    timers: processTimers,
  })
  if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
  const batches = await Array.fromAsync(answer.memories)
  answer.close()
  expect(batches.map(({ length }) => length)).toEqual([1])
})

describe('the connection of an export', () => {
  const nobody = () => 0
  const timers = processTimers

  /** How many connections the work closes. */
  function closedBy(work: () => void): number {
    const close = vi.spyOn(DatabaseSync.prototype, 'close')
    try {
      work()
      return close.mock.calls.length
    } finally {
      close.mockRestore()
    }
  }

  test('is closed once, however often its reader says so', () => {
    const answer = openExport(pathOf(database.url), whole(stored.agent), { asked: nobody, timers })
    const leave = () => {
      if (answer.outcome === 'export') answer.close()
    }
    expect([closedBy(leave), closedBy(leave)]).toEqual([1, 0])
  })

  test('is closed when the export is refused', () => {
    const stranger = { ...stored.agent, tokenHash: 'unknown' }
    const refuse = () => {
      expect(openExport(pathOf(database.url), whole(stranger), { asked: nobody, timers })).toEqual({
        outcome: 'revoked',
      })
    }
    expect(closedBy(refuse)).toBe(1)
  })

  test('is closed, and waited for no longer, when an erasure comes while it is opened', async () => {
    const path = pathOf(database.url)
    const reader = openReader(path)
    const nothing = { rest: async () => {}, clean: async () => 'done' as const, timers }
    const longReads = boundLog(reader, nothing)
    let erased: Promise<void> | undefined
    await whileLetIn(longReads, stored.agent, async (signal) => {
      erased = longReads.forget(stored.agent.agentId)
      return openExport(path, whole(stored.agent), { asked: nobody, signal, timers })
    })
    await erased
    expect(erased).toBeDefined()
    reader.close()
  })

  test('is opened after all erasures that were asked for, though it waits since the first', async () => {
    const reader = openReader(pathOf(database.url))
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const due = [first, second]
    const clean = async () => {
      await due.shift()?.promise
      return 'done' as const
    }
    const { enter, forget } = boundLog(reader, { rest: async () => {}, clean, timers })
    let isIn = false
    const erased = forget('one')
    const entering = enter('reading').finally(() => {
      isIn = true
    })
    const erasedToo = forget('other')
    first.resolve()
    await erased
    await new Promise(setImmediate)
    expect(isIn).toBe(false)
    second.resolve()
    await erasedToo
    const { leave } = await entering
    leave()
    reader.close()
  })

  test('is closed when the database cannot be read, and that is what is said', async () => {
    const path = join(await database.directory(), 'other.db')
    writeFileSync(path, 'This is no database, and long enough to be seen as none. '.repeat(100))
    const fail = () => {
      expect(() => openExport(path, whole(stored.agent), { asked: nobody, timers })).toThrow(
        'not a database',
      )
    }
    expect(closedBy(fail)).toBe(1)
  })
})
