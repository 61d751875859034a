/** Homes that change at random, and the bytes of what is gone in the store's own files. */
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Erasure } from '../../src/store/port/memories.ts'
import { embedded } from '../harness.ts'
import {
  exported,
  NOON,
  newWrite,
  openFixture,
  type StoredAgent,
  type StoreFixture,
} from './fixture.ts'

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

/** Every file of the database. */
const filesIn = (directory: string): Buffer[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(directory, name)))

/** All of them as one text of bytes. */
export const bytesIn = (directory: string): string =>
  filesIn(directory)
    .map((file) => file.toString('latin1'))
    .join('\n')

/** A text of its own: what finds one in a file, finds this one. */
export const newMark = (): string => `<${randomBytes(7).toString('hex')}>`

export const contentOf = (mark: string, bytes: number) => ({
  text: mark.repeat(Math.ceil(bytes / mark.length)).slice(0, Math.max(bytes, mark.length)),
  metadata: JSON.stringify({ m: mark }),
})

const TABLES = `SELECT name, name IN (
    SELECT m.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE c.name = 'agent_id'
  ) AS owned FROM sqlite_schema WHERE type = 'table'`

/**
 * Whatever is in a row of any table: what is not, was overwritten, given up or erased. Megabytes of
 * an agent who has no mark may be left out.
 */
export function contentIn(directory: string, besides = ''): string {
  const db = new DatabaseSync(join(directory, 'home.db'), { readOnly: true })
  const rowsOf = ({ name, owned }: Record<string, unknown>) =>
    owned
      ? db.prepare(`SELECT * FROM "${name}" WHERE agent_id IS NOT ?`).all(besides)
      : db.prepare(`SELECT * FROM "${name}"`).all()
  const rows = db.prepare(TABLES).all().flatMap(rowsOf)
  db.close()
  return JSON.stringify(rows)
}

/** Those marks that are in the bytes, in one go: there are megabytes, and thousands of marks. */
export function found(marks: Iterable<string>, bytes: string): string[] {
  const there = new Set(bytes.match(/<[0-9a-f]{14}>/g))
  return [...marks].filter((mark) => there.has(mark))
}

const [BEGINS, ENDS] = [0x3c, 0x3e]
const MARK_BYTES = 16

/** Every mark in any file of the database, among megabytes that are none. */
function marksIn(directory: string): Set<string> {
  const marks = new Set<string>()
  for (const bytes of filesIn(directory)) {
    for (let at = bytes.indexOf(BEGINS); at >= 0; at = bytes.indexOf(BEGINS, at + 1)) {
      const end = at + MARK_BYTES
      if (bytes[end - 1] === ENDS) marks.add(bytes.toString('latin1', at, end))
    }
  }
  return marks
}

/** One agent's hand, which knows what it wrote. */
function createHand({ store }: StoreFixture, who: StoredAgent, own: string) {
  /** By key and version. */
  const written = new Map<string, Map<number, string>>()
  const marks = new Set<string>([own])
  const erased = new Set<string>()

  const keyOf = (name: string): string => `${name}.${own.slice(1, -1)}`
  const standOf = async (name: string): Promise<number> => {
    const read = await store().readMemory(who.agent, keyOf(name))
    return read.outcome === 'found' ? read.memory.version : 0
  }
  const change = (
    identity: Identity,
    ...changes: Parameters<ReturnType<typeof store>['changeMemories']>[1]
  ) => store().changeMemories(identity, changes, NOON)

  async function write(name: string, bytes: number): Promise<void> {
    const mark = newMark()
    marks.add(mark)
    const expectedVersion = await standOf(name)
    const made = { key: keyOf(name), ...contentOf(mark, bytes), expectedVersion }
    const saved = await store().writeMemory(who.agent, { id: crypto.randomUUID(), ...made }, NOON)
    if (saved.outcome !== 'saved') throw new Error(saved.outcome)
    const versions = written.get(name) ?? new Map()
    written.set(name, versions.set(saved.memory.version, mark))
  }

  async function erase(name: string, what: 'all' | 'history' | 'one'): Promise<boolean> {
    const versions = written.get(name)
    const oldest = [...(versions?.keys() ?? [])][0] ?? 1
    const erasure: Erasure = what === 'one' ? [oldest] : what
    const answer = await store().eraseMemory(who.operator, keyOf(name), erasure, NOON)
    if (answer.outcome !== 'erased') return false
    for (const version of answer.versions) {
      const mark = versions?.get(version)
      versions?.delete(version)
      // A rename is a version more of the same text.
      if (mark && ![...(versions?.values() ?? [])].includes(mark)) erased.add(mark)
    }
    return true
  }

  async function rename(name: string, to: string, expectedVersion: number): Promise<void> {
    const [from, target] = [keyOf(name), keyOf(to)]
    const renaming = { verb: 'rename', from, to: target, expectedVersion } as const
    if ((await change(who.agent, renaming)).outcome !== 'changed') return
    const versions = written.get(name) ?? new Map()
    written.set(to, versions.set(await standOf(to), versions.get(expectedVersion)))
    written.delete(name)
  }

  return {
    who,
    /** In every key. */
    own: own.slice(1, -1),
    marks,
    erased,
    /** Whether something was erased. */
    async take(step: Step): Promise<boolean> {
      if (step.verb === 'erase') return erase(step.key, step.what)
      const expectedVersion = step.verb === 'write' ? 0 : await standOf(step.key)
      if (step.verb === 'write') await write(step.key, step.size)
      else if (expectedVersion > 0 && step.verb === 'rename') {
        await rename(step.key, step.to, expectedVersion)
      } else if (expectedVersion > 0) {
        await change(who.agent, { verb: 'delete', key: keyOf(step.key), expectedVersion })
      }
      return false
    },
  }
}

/** Others, who write and leave while something is erased. */
async function beside(fixture: StoreFixture) {
  const noise = createHand(fixture, await fixture.agent(), newMark())
  return async (): Promise<void> => {
    const written = noise.take({ verb: 'write', key: 'n', size: 900, by: 0 })
    const left = exported(fixture.store(), noise.who.agent)
    await Promise.all([written, left])
  }
}

/** So many bytes that nothing of the file is small; the agent whose they are. */
async function fill(fixture: StoreFixture, bytes: number): Promise<string> {
  const { agent } = await fixture.agent()
  const text = 'x'.repeat(16_000)
  for (let n = 0; n < bytes / text.length; n += 64) {
    const writes = Array.from({ length: 64 }, (_, i) => newWrite({ key: `k${n + i}`, text }))
    await fixture.store().changeMemories(
      agent,
      writes.map((write) => ({ verb: 'write', ...write })),
      NOON,
    )
  }
  return agent.agentId
}

interface Circumstances {
  /** Others write and leave meanwhile. */
  readonly busy: boolean
  /** What the file has before. */
  readonly bytes?: number
}

/**
 * Takes the steps. After each erasure, and after an agent's, nothing that was erased may be found,
 * and nothing that gave way before. Tells for how many texts it looked.
 */
export async function tryErasing(
  steps: readonly Step[],
  { busy, bytes = 0 }: Circumstances,
): Promise<number> {
  const database = await embedded.fresh()
  const directory = await database.directory()
  const fixture = await openFixture({ ...embedded, fresh: async () => database }, { versions: 4 })
  const born = async () => {
    const own = newMark()
    return createHand(fixture, await fixture.agent({ name: own, purpose: own }), own)
  }
  const hands = [await born(), await born()] as const
  const others = await beside(fixture)
  const filler = await fill(fixture, bytes)
  let looks = 0
  const look = (erased: Iterable<string>): void => {
    const [there, content] = [marksIn(directory), contentIn(directory, filler)]
    const all = hands.flatMap(({ marks }) => [...marks])
    const kept = new Set(found(all, content))
    const gone = all.filter((mark) => !kept.has(mark))
    const left = (marks: readonly string[]) => marks.filter((mark) => there.has(mark))
    expect({ erased: left([...erased]), gone: left(gone) }).toEqual({ erased: [], gone: [] })
    looks += gone.length
  }
  try {
    for (const step of steps) {
      const hand = hands[step.by] ?? hands[0]
      const meanwhile = busy ? others() : undefined
      if (await hand.take(step)) look(hand.erased)
      await meanwhile
    }
    const [first, other] = hands
    const { outcome } = await fixture.store().eraseAgent(first.who.operator, NOON)
    expect(outcome).toBe('erased')
    look(first.marks)
    const files = bytesIn(directory)
    expect(files.includes(first.own)).toBe(false)
    expect(found(other.marks, files).length).toBeGreaterThan(0)
    return looks
  } finally {
    await fixture.close()
  }
}
