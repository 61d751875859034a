import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { InTurn } from '../../clients/typescript/src/fitting/in-turn.ts'

test('work on one key is done one after the other, and on another key meanwhile', async () => {
  const inTurn = new InTurn()
  const begun: string[] = []
  const begin = (key: string, name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = inTurn.run(key, () => {
      begun.push(name)
      return promise
    })
    return { done, end: resolve }
  }
  const [first, second] = [begin('a', 'first'), begin('a', 'second')]
  begin('b', 'other').end()
  first.end()
  await first.done
  await turn()
  const third = begin('a', 'third')
  await turn()
  expect(begun).toEqual(['first', 'other', 'second'])
  second.end()
  third.end()
  await third.done
  expect(begun.at(-1)).toBe('third')
})
