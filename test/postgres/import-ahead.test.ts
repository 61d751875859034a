/** What an import has written that is not over: nothing to anybody, and gone where it ends in nothing. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { StoreUnavailable } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/home.ts'
import type { ImportOrder, KeptVersion } from '../../src/store/port/transfer.ts'
import { statement } from '../../src/store/postgres/engine/connections.ts'
import { NOON, openFixture } from '../store/fixture.ts'
import { kept } from '../store/import-work.ts'
import { type Opened, openBeside } from './opened.ts'

const REPLACE: ImportOrder = { onConflict: 'replace', dryRun: false }

let opened: Opened
beforeAll(async () => {
  opened = await openBeside(2)
})
afterAll(() => opened.close())

const counts = statement<{ rows: number; marks: number }>(`
  SELECT (SELECT count(*) FROM log WHERE agent_id = $1 AND n < 0) AS rows,
    (SELECT count(*) FROM staged_imports WHERE agent_id = $1) AS marks`)

const silence = statement(
  'UPDATE staged_imports SET touched_at = 1 WHERE agent_id = $1 AND touched_at > 0',
)

const givingUp = statement('UPDATE staged_imports SET touched_at = 0 WHERE agent_id = $1')

const dropFirst = statement(`
  DELETE FROM log WHERE agent_id = $1
    AND n = (SELECT min(n) FROM log WHERE agent_id = $1 AND n < 0)`)

/** Another node on the same database. */
const openBesideSame = () =>
  openFixture({
    name: 'postgres',
    fresh: async () => ({ ...opened.database, drop: async () => {}, directory: async () => '' }),
  })

const aheadOf = async ({ agentId }: Identity) => {
  const [found] = await opened.connections.read(counts, agentId)
  return found
}

const NO_BOUNDS = { bytes: 0, memories: 0 }

const NONE = { rows: 0, marks: 0 }

/** `midway`: before the last piece. */
async function* pieces(versions: readonly KeptVersion[], midway: () => unknown) {
  for (const version of versions) yield [version]
  await midway()
  yield []
}

/** It is read once to be counted; what happens midway does when it is written. */
function source(versions: readonly KeptVersion[], midway: () => unknown) {
  let reads = 0
  return {
    [Symbol.asyncIterator]: () => pieces(versions, reads++ > 0 ? midway : () => {}),
  }
}

const bring = (
  identity: Identity,
  midway: () => unknown,
  versions = three,
  how: ImportOrder = REPLACE,
) => opened.fixture.store().importMemories(identity, source(versions, midway), how, NOON)

const three = ['a', 'b', 'c'].map((key) => kept(key, 1, 'x'))

const two = [...three, kept('c', 2, 'y'), kept('d', 1, 'z')]

test('it is marked while it comes, and nothing is left of one that breaks', async () => {
  const { operator } = await opened.fixture.agent()
  const seen: unknown[] = []
  const broken = async () => {
    seen.push(await aheadOf(operator))
    throw new RangeError('broken')
  }
  await expect(bring(operator, broken)).rejects.toThrow('broken')
  expect([seen, await aheadOf(operator)]).toEqual([[{ rows: 2, marks: 1 }], NONE])
})

test('what becomes a version stays, what came before it below zero', async () => {
  const { operator } = await opened.fixture.agent()
  expect(await bring(operator, () => {}, two)).toMatchObject({ outcome: 'imported', imported: 4 })
  expect(await aheadOf(operator)).toEqual({ rows: 1, marks: 0 })
})

test('an agent that is erased meanwhile takes along what was written', async () => {
  const { operator } = await opened.fixture.agent()
  const seen: unknown[] = []
  const erase = async () => {
    await opened.fixture.store().eraseAgent(operator, NOON)
    seen.push(await aheadOf(operator))
  }
  const answer = await bring(operator, erase)
  expect([answer, seen, await aheadOf(operator)]).toEqual([{ outcome: 'revoked' }, [NONE], NONE])
})

const order = { onConflict: 'skip', dryRun: false } as const

test('of a key that somebody wrote meanwhile nothing is left that was written for it', async () => {
  const { operator } = await opened.fixture.agent()
  const write = (key: string) => () => opened.fixture.write(operator, { key })
  const sent = [kept('b', 1, 'x'), kept('b', 2, 'y'), kept('c', 1, 'z')]
  const skipped = await bring(operator, write('b'), sent, order)
  expect([skipped, await aheadOf(operator)]).toMatchObject([{ imported: 1, skipped: 1 }, NONE])
  const replaced = [kept('e', 1, 'x'), kept('e', 2, 'y'), kept('f', 1, 'z')]
  expect(await bring(operator, write('e'), replaced)).toMatchObject({ imported: 2 })
  expect(await aheadOf(operator)).toEqual(NONE)
})

test('what a node has left that ended in the midst is given up by the next import of anybody', async () => {
  const { operator: left } = await opened.fixture.agent()
  const { operator: other } = await opened.fixture.agent()
  const seen: unknown[] = []
  const end = async () => {
    await opened.connections.write(silence, left.agentId)
    await bring(other, () => {})
    seen.push(await aheadOf(left))
  }
  await expect(bring(left, end)).rejects.toThrow(StoreUnavailable)
  expect([seen, await aheadOf(left)]).toEqual([[NONE], NONE])
  expect(await bring(left, () => {})).toMatchObject({ outcome: 'imported' })
})

test('what another node began to give up is not gone on with', async () => {
  const { operator } = await opened.fixture.agent()
  const giveUpSome = async () => {
    await opened.connections.write(givingUp, operator.agentId)
    await opened.connections.write(dropFirst, operator.agentId)
  }
  await expect(bring(operator, giveUpSome)).rejects.toThrow(StoreUnavailable)
  expect(await opened.fixture.store().readProfile(operator)).toMatchObject({ memoryCount: 0 })
  expect(await bring(operator, () => {})).toMatchObject({ outcome: 'imported', imported: 3 })
})

test('one of another node that goes on is left alone at a start', async () => {
  const { operator } = await opened.fixture.agent()
  const seen: unknown[] = []
  const start = async () => {
    const beside = await openBesideSame()
    seen.push(await aheadOf(operator))
    await opened.connections.write(silence, operator.agentId)
    await beside.restart()
    seen.push(await aheadOf(operator))
    await beside.close()
  }
  await expect(bring(operator, start)).rejects.toThrow(StoreUnavailable)
  expect(seen).toEqual([{ rows: 2, marks: 1 }, NONE])
})

test('two imports into one home are each all there', async () => {
  const { operator } = await opened.fixture.agent()
  const other = () => bring(operator, () => {}, two)
  expect(await bring(operator, other)).toMatchObject({ imported: 3, conflicts: ['a', 'b', 'c'] })
  expect(await aheadOf(operator)).toEqual({ rows: 1, marks: 0 })
})

const sizeOfLog = statement<{ bytes: number }>("SELECT pg_total_relation_size('log') AS bytes")

test.each([
  { what: 'over the bytes of a home', bounds: { bytes: 100_000 }, outcome: 'over_quota', rows: 8 },
  { what: 'over its memories', bounds: { memories: 10 }, outcome: 'over_quota', rows: 12 },
  { what: 'a conflict at its end', bounds: {}, outcome: 'conflict', rows: 256 },
])('4 MiB that are $what are not written', async ({ bounds, outcome, rows }) => {
  const { operator } = await opened.fixture.agent()
  await opened.fixture.write(operator, { key: 'k255' })
  await opened.fixture.restart({ ...NO_BOUNDS, ...bounds })
  // Of what PostgreSQL can press into nothing it would not tell.
  const text = () => randomBytes(8_000).toString('hex')
  let read = 0
  async function* counted() {
    for (let n = 0; n < 256; n++) {
      read++
      yield [kept(`k${String(n).padStart(3, '0')}`, 1, text())]
    }
  }
  const sent = { [Symbol.asyncIterator]: counted }
  const sizeNow = async () => (await opened.connections.read(sizeOfLog))[0]?.bytes ?? 0
  const before = await sizeNow()
  const order = { onConflict: 'fail', dryRun: false } as const
  const answer = await opened.fixture.store().importMemories(operator, sent, order, NOON)
  await opened.fixture.restart(NO_BOUNDS)
  expect(answer.outcome).toBe(outcome)
  expect((await sizeNow()) - before).toBeLessThan(65_536)
  expect(read).toBeLessThanOrEqual(rows)
})

test('what gives way to others meanwhile is no part of it', async () => {
  const { operator } = await opened.fixture.agent()
  await opened.fixture.restart({ bytes: 1_000 })
  const write = async () => {
    for (let expectedVersion = 0; expectedVersion < 9; expectedVersion++) {
      await opened.fixture.write(operator, { key: 'own', text: 'x'.repeat(200), expectedVersion })
    }
  }
  await bring(operator, write, two)
  for (const { key, content } of two.filter(({ key, version }) => key !== 'c' || version === 2)) {
    const found = await opened.fixture.store().readMemory(operator, key)
    expect(found).toMatchObject({ memory: { text: content?.text } })
  }
  await opened.fixture.restart({ bytes: 0 })
})
