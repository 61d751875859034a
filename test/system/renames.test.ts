/** Memories renamed beside all other changes, on real processes: what was answered has an order. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseChange, type Knowledge, knownFrom, pick } from '../history/choose.ts'
import { faultsOf } from '../history/linearizable.ts'
import type { Told } from '../history/operations.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { birth } from '../process/calls.ts'
import { dropDatabases, startNodes } from '../process/nodes.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'
import { tally } from '../store/fixture.ts'

const ROUNDS = 25
const CLIENTS = 6
/** Of each client, on the three keys of a round. */
const TURNS = 6

const unlimited = { READS_PER_MINUTE: '0', WRITES_PER_MINUTE: '0', MEMORIES_PER_AGENT: '0' }

const services = [
  {
    name: 'the embedded engine',
    start: async () => [await serve({ directory: freshDirectory(), env: unlimited })],
  },
  {
    name: 'two nodes on PostgreSQL',
    start: () => startNodes(2, { MEMORIES_PER_AGENT: '0' }),
  },
]

const toldBy = (records: readonly Recorder[]): Told[] =>
  records.flatMap(({ history, renames }) => [...history, ...renames])

async function knownOf(record: Recorder, key: string): Promise<Knowledge> {
  const found = await record.read(key)
  return found ? knownFrom(found) : { current: 0, highest: 0 }
}

describe.each(services)('renames on $name', ({ start }) => {
  let nodes: readonly Server[]
  let token: string
  beforeAll(async () => {
    nodes = await start()
    token = (await birth(nodes[0]?.url ?? '')).token
  })
  afterAll(async () => {
    await cleanUp()
    await dropDatabases()
  })

  const clients = (): Recorder[] =>
    Array.from({ length: CLIENTS }, (_, n) =>
      recorder(() => nodes[n % nodes.length]?.url ?? '', token),
    )

  async function play(record: Recorder, name: string, keys: readonly string[]) {
    for (let turn = 0; turn < TURNS; turn++) {
      const key = pick(keys)
      const other = pick(keys.filter((each) => each !== key))
      const known = await knownOf(record, key)
      const isRenamed = known.current > 0 && pick([true, false])
      if (isRenamed) await record.rename(key, other, known.current)
      // Where something was, no name is free: seldom is anything made anew.
      else if (known.current > 0 || pick([true, false, false, false, false, false])) {
        await record.change(chooseChange(key, known, `${name}.${turn};`))
      }
    }
    await record.read(pick(keys))
  }

  test('beside writes, appends, deletes and restores of all names they are linearizable', async () => {
    const outcomes: { outcome: string }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const records = clients()
      const keys = ['a', 'b', 'c'].map((key) => `${key}${round}`)
      await records[0]?.write(keys[0] ?? '', 0, 'first')
      await Promise.all(records.map((record, n) => play(record, `${round}/${n}`, keys)))
      expect(faultsOf(toldBy(records))).toEqual([])
      outcomes.push(
        ...records.flatMap(({ renames }) =>
          renames.map(({ outcome }) => ({ outcome: outcome.is })),
        ),
      )
    }
    const met = tally(outcomes)
    expect(Object.keys(met).sort()).toEqual(['conflict', 'missing', 'saved', 'taken'])
    expect(met.saved).toBeGreaterThan(ROUNDS / 2)
  })

  test('one that is made in two steps is told apart, though each number is right', async () => {
    const [record] = clients()
    if (!record) throw new Error('there is nobody')
    // Under the new name numbers were used before, so that a create there gets the one of a rename.
    await record.write('new', 0, 'before')
    await record.rename('new', 'elsewhere', 1)
    await record.write('old', 0, 'text')
    const invokedAt = performance.now()
    const made = await recorder(() => nodes[0]?.url ?? '', token).write('new', 0, 'text')
    expect(made.outcome).toMatchObject({ version: 3 })
    await record.read('new')
    await record.read('old')
    await recorder(() => nodes[0]?.url ?? '', token).change({
      kind: 'delete',
      key: 'old',
      expectedVersion: 1,
    })
    const span = { key: 'old', to: 'new', invokedAt, completedAt: performance.now() }
    const { outcome } = made
    await record.read('new')
    await record.read('old')
    const told = toldBy([record])
    const broken = { kind: 'rename', ...span, expectedVersion: 1, outcome } as const
    expect(faultsOf([...told, broken])).toEqual([expect.stringMatching(/no order explains/)])
    const between = told.filter(({ invokedAt: at }) => at < invokedAt || at > span.completedAt)
    expect(faultsOf([...between, broken])).toEqual([])
  })
})
