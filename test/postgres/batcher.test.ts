/** Reads that come together share a statement, and none of them notices. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { together } from '../../src/store/postgres/engine/batcher.ts'
import type { Connections } from '../../src/store/postgres/engine/connections.ts'
import { readTogether } from '../../src/store/postgres/memories/reads.ts'
import type { StoreFixture } from '../store/fixture.ts'
import { openBeside } from './opened.ts'

const doubled = async (questions: readonly number[]) => questions.map((n) => n * 2)

test('what is asked in one turn is one question, answered in order', async () => {
  const groups: number[] = []
  const ask = together({ atOnce: 2, inGroup: 4 }, (questions: readonly number[]) => {
    groups.push(questions.length)
    return doubled(questions)
  })
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => ask(n)))
  expect(answers).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
  expect(groups).toEqual([4, 4, 2])
  expect(await ask(21)).toBe(42)
  expect(groups).toEqual([4, 4, 2, 1])
})

test('a group that fails fails each of its questions, and no other', async () => {
  const ask = together({ atOnce: 1, inGroup: 2 }, async (questions: readonly number[]) => {
    if (questions.includes(0)) throw new Error('no')
    return doubled(questions)
  })
  const settled = await Promise.allSettled([0, 1, 2].map(ask))
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
})

let fixture: StoreFixture
let connections: Connections
let close: () => Promise<void>
beforeAll(async () => {
  ;({ fixture, connections, close } = await openBeside(4))
})
afterAll(() => close())

test('found, missing, paused and revoked readers each get their own answer', async () => {
  const read = readTogether(connections.read)
  const [one, two, paused] = [await fixture.agent(), await fixture.agent(), await fixture.agent()]
  await fixture.write(one.agent, { key: 'plan', text: 'of one' })
  await fixture.write(two.agent, { key: 'plan', text: 'of two', metadata: '{"b":1,"a":2}' })
  await fixture.write(paused.agent, { key: 'plan', text: 'of the paused' })
  await fixture.store().setStatus(paused.operator, 'paused', 0)
  const stranger = { ...one.agent, tokenHash: two.agent.tokenHash }
  const answers = await Promise.all(
    [one.agent, two.agent, paused.agent, paused.operator, stranger, one.agent]
      .map((identity) => ({ identity, key: 'plan' }))
      .concat({ identity: one.operator, key: 'nothing' })
      .map(read),
  )
  expect(answers).toMatchObject([
    { outcome: 'found', memory: { text: 'of one' } },
    { outcome: 'found', memory: { text: 'of two', metadata: '{"b":1,"a":2}' } },
    { outcome: 'paused' },
    { outcome: 'found', memory: { text: 'of the paused' } },
    { outcome: 'revoked' },
    { outcome: 'found', memory: { text: 'of one' } },
    { outcome: 'missing' },
  ])
})
