/** What was erased is in no file of the embedded store when the answer arrives. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../effort.ts'
import { embedded } from '../harness.ts'
import { bytesIn, stepsOf, tryErasing } from './erasing.ts'
import { NOON, newWrite, openFixture } from './fixture.ts'

test('no byte of what was erased is in any file, whatever was written before', async () => {
  let looks = 0
  await fc.assert(
    fc.asyncProperty(stepsOf(240), fc.boolean(), async (steps, busy) => {
      looks += await tryErasing(steps, { busy })
    }),
    { numRuns: times(6), endOnFailure: true },
  )
  expect(looks).toBeGreaterThan(times(100))
})

const MARK = 'what only this agent knows '

async function openHome() {
  const database = await embedded.fresh()
  const fixture = await openFixture({ ...embedded, fresh: async () => database })
  const bytes = async () => bytesIn(await database.directory())
  return { fixture, bytes }
}

test('an erasure ends the exports of its agent, and waits for those of others', async () => {
  const { fixture, bytes } = await openHome()
  const { agent, operator } = await fixture.agent()
  const other = (await fixture.agent()).agent
  for (const identity of [agent, other]) {
    for (let n = 0; n < 20; n++) {
      const text = (identity === agent ? MARK : 'another’s ').repeat(400)
      await fixture.write(identity, newWrite({ key: `k${n}`, text }))
    }
  }
  const own = await fixture.store().exportMemories(agent)
  const slow = await fixture.store().exportMemories(other)
  if (own.outcome !== 'export' || slow.outcome !== 'export') throw new Error('no export')
  const pieces = own.memories[Symbol.asyncIterator]()
  await pieces.next()

  let answered = false
  const erased = fixture.store().eraseMemory(operator, 'k3', 'all', NOON)
  const answering = erased.then(() => {
    answered = true
  })
  expect((await Array.fromAsync(slow.memories)).flat()).toHaveLength(20)
  expect(answered).toBe(false)
  slow.close()
  await answering
  await expect(pieces.next()).rejects.toThrow('an erasure ended the export')
  expect((await erased).outcome).toBe('erased')

  await fixture.store().eraseAgent(operator, NOON)
  expect(await bytes()).not.toContain(MARK)
  const again = await fixture.store().exportMemories(other)
  if (again.outcome !== 'export') throw new Error('no export')
  expect((await Array.fromAsync(again.memories)).flat()).toHaveLength(20)
  again.close()
  await fixture.close()
})

test('an erasure ends its agent’s exports at once, while it waits for those of others', async () => {
  const { fixture } = await openHome()
  const { agent, operator } = await fixture.agent()
  const other = (await fixture.agent()).agent
  for (const identity of [agent, other]) {
    for (let n = 0; n < 20; n++) {
      await fixture.write(identity, newWrite({ key: `k${n}`, text: MARK.repeat(400) }))
    }
  }
  const own = await fixture.store().exportMemories(agent)
  const theirs = await fixture.store().exportMemories(other)
  if (own.outcome !== 'export' || theirs.outcome !== 'export') throw new Error('no export')
  let answered = false
  const erased = fixture
    .store()
    .eraseMemory(operator, 'k3', 'all', NOON)
    .finally(() => {
      answered = true
    })
  // Commits come in the order in which they were asked for.
  await fixture.write(other, newWrite({ key: 'later' }))
  await expect(Array.fromAsync(own.memories)).rejects.toThrow('an erasure ended the export')
  expect(answered).toBe(false)
  expect((await Array.fromAsync(theirs.memories)).flat()).toHaveLength(20)
  theirs.close()
  expect((await erased).outcome).toBe('erased')
  await fixture.close()
})
