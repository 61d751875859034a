/** What is looked at between the steps of an export, and when. */
import { expect, test } from 'vitest'
import { createExports } from '../../src/home/exports.ts'
import { createSpool } from '../../src/home/spool.ts'
import { createSubscriptions } from '../../src/home/subscriptions.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import { manualTimers } from '../manual-timers.ts'

const identity: Identity = {
  agentId: 'a',
  kind: 'agent',
  tokenHash: 'x',
  status: 'active',
}

/** An export of two pieces; something is erased right before this look at the count of erasures. */
function erasedBeforeLook(look: number) {
  const manual = manualTimers()
  const { timers } = manual
  const subscriptions = createSubscriptions({
    changedHomes: async () => [],
    clock: () => 0,
    ...timers,
  })
  let looks = 0
  const { take } = createExports({
    spool: createSpool({ maxBytes: 0 }),
    follow: subscriptions.follow,
    after: timers.after,
    countErasures: async () => {
      const erasures = ++looks >= look ? 1 : 0
      return { outcome: 'erasures', erasures, lastEvent: 0 }
    },
  })
  async function* pieces() {
    yield 'one'
    yield 'two'
  }
  const closed = { source: 0 }
  const close = () => {
    closed.source++
  }
  const begin = () =>
    take('192.0.2.1', identity, async () => ({ pieces: pieces(), close, erasures: 0 }))
  return { begin, closed, manual }
}

test.each([
  ['once it has a snapshot', 1],
  ['once it was read', 2],
])('what is erased %s is refused before its first byte', async (_, look) => {
  const { begin, closed } = erasedBeforeLook(look)
  await expect(begin()).rejects.toMatchObject({ code: 'export_ended' })
  expect(closed.source).toBe(1)
})

test.each([
  ['its first piece', 3, 0],
  ['its second', 4, 1],
  ['its end', 5, 2],
])('what is erased before %s breaks off there', async (_, look, pieces) => {
  const taken = await erasedBeforeLook(look).begin()
  const received: string[] = []
  const read = async () => {
    for await (const piece of taken.pieces) received.push(piece)
  }
  await expect(read()).rejects.toMatchObject({ code: 'export_ended' })
  expect(received).toEqual(['one', 'two'].slice(0, pieces))
  taken.close()
})

test('what nobody erases is whole, and once it is read nobody looks any more', async () => {
  const { begin, manual } = erasedBeforeLook(6)
  const taken = await begin()
  expect(await Array.fromAsync(taken.pieces)).toEqual(['one', 'two'])
  expect(manual.waits()).toEqual([1_000])
  taken.close()
  manual.pass(1_000)
  expect(manual.waits()).toEqual([])
})
