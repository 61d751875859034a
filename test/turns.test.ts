/** What many wait for at once goes on a few at a time. */
import { expect, test } from 'vitest'
import { takeTurns } from '../src/turns.ts'
import { mostInATurn } from './per-turn.ts'

test('no more go on in a turn than may, in the order in which they came', async () => {
  const itsTurn = takeTurns(4)
  const order: number[] = []
  const most = await mostInATurn((count) =>
    Promise.all(
      Array.from({ length: 50 }, async (_, n) => {
        for (let times = 0; times < 3; times++) {
          await itsTurn()
          count(1)
          if (times === 0) order.push(n)
        }
      }),
    ),
  )
  expect(most).toBe(4)
  expect(order).toEqual(Array.from({ length: 50 }, (_, n) => n))
})
