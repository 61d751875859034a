/** What a conflict compares, it compares when the home is free and others have their turns. */
import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { conflictWith } from '../../src/store/answers.ts'
import { comparing } from '../../src/store/comparing.ts'
import type { ChangesAnswer, Conflict } from '../../src/store/port/memories.ts'

const stored = { version: 2, updatedAt: 1, text: 't', metadata: '{"a":1,"b":[1.0]}' }
const spelled = { text: 't', metadata: '{"b":[10e-1],"a":1}' }
const conflict = conflictWith(stored, spelled)

const storeOf = (answer: ChangesAnswer, one: Conflict) =>
  comparing({ changeMemories: async () => answer, writeMemory: async () => one })

const identity = { agentId: 'a', kind: 'agent', tokenHash: 't', status: 'active' } as const
const write = { id: 'i', key: 'k', expectedVersion: 1, ...spelled }

test('within the transaction, only what is the same to the letter is compared', () => {
  expect(conflict).toMatchObject({
    sameContent: false,
    metadata: [stored.metadata, spelled.metadata],
  })
  expect(conflictWith(stored, stored)).toMatchObject({ sameContent: true })
  expect(conflictWith(stored, { ...spelled, text: 'u' })).not.toHaveProperty('metadata')
})

test('a write is told', async () => {
  const { writeMemory } = storeOf({ outcome: 'revoked' }, conflict)
  const told = { outcome: 'conflict', currentVersion: 2, updatedAt: 1, sameContent: true }
  expect(await writeMemory(identity, write, 1)).toEqual(told)
})

test('a batch of conflicts takes a turn for each', async () => {
  const faults = Array.from({ length: 100 }, (_, at) => ({ at, fault: conflict }))
  const { changeMemories } = storeOf({ outcome: 'unchanged', faults }, conflict)
  let turns = 0
  let over = false
  const asked = changeMemories(identity, [], 1).finally(() => {
    over = true
  })
  for (; !over; turns++) await turnOfTheLoop()
  const same = expect.objectContaining({ fault: expect.objectContaining({ sameContent: true }) })
  expect(await asked).toEqual({ outcome: 'unchanged', faults: faults.map(() => same) })
  expect(turns).toBeGreaterThanOrEqual(100)
})
