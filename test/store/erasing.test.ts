/** What was erased is in no file of the embedded store when the answer arrives. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { times } from '../effort.ts'
import { embedded } from '../harness.ts'
import { checkChain } from './chained.ts'
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

test('the salt of a commitment goes with its text, from every file', async () => {
  const { fixture, bytes } = await openHome()
  const { agent, operator } = await fixture.agent()
  const store = fixture.store()
  const salts = new Map<string, string>()
  for (const [key, versions] of [
    ...[['all', 9] as const, ['history', 9] as const, ['some', 9] as const],
    ...Array.from({ length: 40 }, (_, n) => [`beside.${n}`, 3] as const),
  ]) {
    for (let version = 0; version < versions; version++) {
      await fixture.write(agent, {
        key,
        text: `${key} ${version} `.repeat(60),
        expectedVersion: version,
      })
      const found = await store.readVersion(agent, key, version + 1)
      const salt = found.outcome === 'found' ? (found.salt ?? '') : ''
      salts.set(`${key} ${version + 1}`, Buffer.from(salt, 'hex').toString('latin1'))
    }
  }
  const there = async () => {
    const all = await bytes()
    return (name: string) => all.includes(salts.get(name) ?? 'none')
  }
  expect([...salts.keys()].filter(await there())).toHaveLength(salts.size)
  await store.eraseMemory(operator, 'all', 'all', NOON)
  await store.eraseMemory(operator, 'history', 'history', NOON)
  await store.eraseMemory(operator, 'some', [2, 5], NOON)
  const gone = (name: string) =>
    name.startsWith('all ') || /^history [1-8]$/.test(name) || /^some [25]$/.test(name)
  const left = [...salts.keys()].filter(await there())
  expect(left).toEqual([...salts.keys()].filter((name) => !gone(name)))
  expect((await checkChain(store, agent)).faults).toEqual([])
  await store.eraseAgent(operator, NOON)
  expect([...salts.keys()].filter(await there())).toEqual([])
  await fixture.close()
})

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
