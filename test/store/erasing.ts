/** Homes that change at random, and the bytes of what was erased in the store's own files. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Identity } from '../../src/store/port/home.ts'
import type { Erasure } from '../../src/store/port/memories.ts'
import { embedded } from '../harness.ts'
import { NOON, openFixture, type StoredAgent, type StoreFixture } from './fixture.ts'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']

export type Step =
  | { readonly verb: 'write'; readonly key: string; readonly size: number; readonly by: number }
  | { readonly verb: 'delete'; readonly key: string; readonly by: number }
  | { readonly verb: 'rename'; readonly key: string; readonly to: string; readonly by: number }
  | {
      readonly verb: 'erase'
      readonly key: string
      readonly what: 'all' | 'history' | 'one'
      readonly by: number
    }

const key = fc.constantFrom(...KEYS)
const by = fc.nat({ max: 1 })

/** From a few bytes to 16 KiB: in a page, in several, and beside others. */
const size = fc.nat({ max: 320 }).map((n) => Math.min(16_384, Math.round(12 * 1.0228 ** n)))

export const stepsOf = (most: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 12, arbitrary: fc.record({ verb: fc.constant('write'), key, size, by }) },
      { weight: 2, arbitrary: fc.record({ verb: fc.constant('delete'), key, by }) },
      { weight: 1, arbitrary: fc.record({ verb: fc.constant('rename'), key, to: key, by }) },
      {
        weight: 2,
        arbitrary: fc.record({
          verb: fc.constant('erase'),
          key,
          what: fc.constantFrom('all', 'history', 'one'),
          by,
        }),
      },
    ) as fc.Arbitrary<Step>,
    { minLength: most / 2, maxLength: most, size: 'max' },
  )

/** Every file of the database, as one text of bytes. */
export const bytesIn = (directory: string): string =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(directory, name), 'latin1'))
    .join('\n')

/** Of an agent: what it wrote, by key and version. */
type Written = Map<string, Map<number, string>>

const contentOf = (mark: string, bytes: number) => ({
  text: mark.repeat(Math.ceil(bytes / mark.length)).slice(0, Math.max(bytes, mark.length)),
  metadata: JSON.stringify({ m: mark }),
})

/** One agent's hand, which knows what it wrote. */
function createHand({ store }: StoreFixture, who: StoredAgent) {
  const written: Written = new Map()
  const gone: string[] = []
  let marks = 0

  const standOf = async (name: string): Promise<number> => {
    const found = await store().readMemory(who.agent, name)
    return found.outcome === 'found' ? found.memory.version : 0
  }
  const change = (
    identity: Identity,
    ...changes: Parameters<ReturnType<typeof store>['changeMemories']>[1]
  ) => store().changeMemories(identity, changes, NOON)

  async function write(name: string, bytes: number): Promise<void> {
    const mark = `<${who.birth.agentId.slice(-6)}${name}${++marks}>`
    const expectedVersion = await standOf(name)
    const saved = await store().writeMemory(
      who.agent,
      { id: crypto.randomUUID(), key: name, ...contentOf(mark, bytes), expectedVersion },
      NOON,
    )
    if (saved.outcome !== 'saved') throw new Error(saved.outcome)
    const versions = written.get(name) ?? new Map()
    written.set(name, versions.set(saved.memory.version, mark))
  }

  async function erase(name: string, what: 'all' | 'history' | 'one'): Promise<boolean> {
    const versions = written.get(name)
    const oldest = [...(versions?.keys() ?? [])][0] ?? 1
    const erasure: Erasure = what === 'one' ? [oldest] : what
    const erased = await store().eraseMemory(who.operator, name, erasure, NOON)
    if (erased.outcome !== 'erased') return false
    for (const version of erased.versions) {
      const mark = versions?.get(version)
      versions?.delete(version)
      // A rename is a version more of the same text.
      if (mark && ![...(versions?.values() ?? [])].includes(mark)) gone.push(mark)
    }
    return true
  }

  return {
    who,
    gone,
    kept: () => [...written.values()].flatMap((versions) => [...versions.values()]),
    async take(step: Step): Promise<boolean> {
      if (step.verb === 'write') await write(step.key, step.size)
      else if (step.verb === 'erase') return erase(step.key, step.what)
      else {
        const expectedVersion = await standOf(step.key)
        if (expectedVersion === 0) return false
        if (step.verb === 'delete') {
          await change(who.agent, { verb: 'delete', key: step.key, expectedVersion })
        } else {
          const to = { verb: 'rename', from: step.key, to: step.to, expectedVersion } as const
          const moved = await change(who.agent, to)
          if (moved.outcome !== 'changed') return false
          const versions = written.get(step.key) ?? new Map()
          written.set(step.to, versions.set(await standOf(step.to), versions.get(expectedVersion)))
          written.delete(step.key)
        }
      }
      return false
    },
  }
}

/** Takes the steps; after each erasure, and after an agent's, none of it may be found. */
export async function tryErasing(steps: readonly Step[], busy = false): Promise<number> {
  const database = await embedded.fresh()
  const directory = await database.directory()
  const fixture = await openFixture({ ...embedded, fresh: async () => database })
  const hands = [
    createHand(fixture, await fixture.agent()),
    createHand(fixture, await fixture.agent()),
  ]
  const noise = createHand(fixture, await fixture.agent())
  let looks = 0
  const look = (marks: readonly string[]): void => {
    const bytes = bytesIn(directory)
    expect(marks.filter((mark) => bytes.includes(mark))).toEqual([])
    looks += marks.length
  }
  try {
    for (const step of steps) {
      const hand = hands[step.by]
      const beside = busy ? noise.take({ verb: 'write', key: 'n', size: 900, by: 0 }) : undefined
      if (await hand?.take(step)) look(hand?.gone ?? [])
      await beside
    }
    const [first, other] = hands
    if (!first || !other) throw new Error('two hands')
    const all = [...first.gone, ...first.kept()]
    expect(await fixture.store().eraseAgent(first.who.operator, NOON)).toEqual({
      outcome: 'erased',
    })
    look(all)
    expect(bytesIn(directory)).toContain(other.kept()[0] ?? '')
    return looks
  } finally {
    await fixture.close()
  }
}
