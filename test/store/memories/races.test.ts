/** Changes of one memory at once, on every engine: one wins, nothing is lost, all of it is numbered. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../src/store/port/errors.ts'
import type { Identity } from '../../../src/store/port/identity.ts'
import type { Change, ChangeError, Result } from '../../../src/store/port/memories.ts'
import { times } from '../../effort.ts'
import { engines } from '../../harness.ts'
import { exported, NOON, newWrite, openFixture, type StoreFixture, tally } from '../fixture.ts'

const ROUNDS = times(12)
const AT_ONCE = 8

type Became = Result | ChangeError | { readonly outcome: 'paused' | 'revoked' | 'empty' }

/** Where the files are cleaned, an erasure ends the exports of its agent. */
function brokenOff(error: unknown): undefined {
  if (!(error instanceof StoreUnavailable)) throw error
}

describe.each(engines)('races on $name', (engine) => {
  let fixture: StoreFixture
  beforeAll(async () => {
    fixture = await openFixture(engine)
  })
  afterAll(() => fixture.close())

  async function make(identity: Identity, ...changes: Change[]): Promise<Became> {
    const answer = await fixture.store().changeMemories(identity, changes, NOON)
    if (answer.outcome === 'changed') return answer.results[0] ?? { outcome: 'empty' }
    if (answer.outcome === 'unchanged') return answer.faults[0]?.fault ?? { outcome: 'empty' }
    return answer
  }

  const write = (text: string, expectedVersion: number, key = 'plan'): Change => ({
    verb: 'write',
    ...newWrite({ key, text, expectedVersion }),
  })
  const append = (text: string, expectedVersion?: number): Change => ({
    verb: 'append',
    ...{ id: randomUUID(), key: 'plan', text, maxBytes: 16_384, expectedVersion },
  })
  const edit = (old: string, by: string): Change => ({
    ...{ verb: 'edit', key: 'plan', old, new: by, maxBytes: 16_384 },
  })
  const remove = (expectedVersion: number): Change => ({
    ...{ verb: 'delete', key: 'plan', expectedVersion },
  })
  const restore = (version: number, expectedVersion: number): Change => ({
    ...{ verb: 'restore', key: 'plan', version, expectedVersion },
  })
  const rename = (from: string, to: string, expectedVersion: number): Change => ({
    ...{ verb: 'rename', from, to, expectedVersion },
  })

  const atOnce = (identity: Identity, each: (n: number) => Change | readonly Change[]) =>
    Promise.all(Array.from({ length: AT_ONCE }, (_, n) => make(identity, ...[each(n)].flat())))

  async function eventsOf(identity: Identity) {
    const answer = await fixture.store().eventsAfter(identity, 0, 10_000)
    if (answer.outcome !== 'events') throw new Error(answer.outcome)
    expect(answer.events.map(({ id }) => id)).toEqual(answer.events.map((_, at) => at + 1))
    return answer.events
  }

  async function versionsOf(identity: Identity, key = 'plan') {
    const answer = await fixture.store().listVersions(identity, key, undefined, 1_000)
    return answer.outcome === 'versions' ? answer.versions : []
  }

  const isDone = ({ outcome }: Became) => outcome === 'saved' || outcome === 'deleted'

  test('of a delete and a write of one version exactly one is made', async () => {
    const { agent } = await fixture.agent()
    let version = 0
    for (let round = 0; round < ROUNDS; round++) {
      await make(agent, write(`round ${round}`, 0))
      version++
      const at = version
      const became = await atOnce(agent, (n) => (n % 2 ? remove(at) : write(`${round}.${n}`, at)))
      expect(became.filter(isDone)).toHaveLength(1)
      version++
      if (became.some(({ outcome }) => outcome === 'saved')) {
        expect(await make(agent, remove(version))).toMatchObject({ outcome: 'deleted' })
        version++
      }
    }
    const kept = (await versionsOf(agent)).map((each) => each.version)
    expect(kept).toEqual(Array.from({ length: version }, (_, n) => version - n))
    expect((await eventsOf(agent)).map((each) => each.version)).toEqual(kept.toReversed())
  })

  test('of edits of one passage one is made, and of others none is lost', async () => {
    const { agent } = await fixture.agent()
    await make(agent, write(`all${[...Array(AT_ONCE).keys()].map((n) => `|${n}|`).join('')}`, 0))
    const once = await atOnce(agent, (n) => edit('all', `by ${n}`))
    expect(once.filter(({ outcome }) => outcome === 'saved')).toHaveLength(1)
    const each = await atOnce(agent, (n) => edit(`|${n}|`, `<${n}>`))
    expect(each.filter(({ outcome }) => outcome === 'saved')).toHaveLength(AT_ONCE)
    const kept = await fixture.store().readMemory(agent, 'plan')
    const text = kept.outcome === 'found' ? kept.memory.text : ''
    for (let n = 0; n < AT_ONCE; n++) expect(text).toContain(`<${n}>`)
    await eventsOf(agent)
  })

  test('of a restore and an append to nothing one is made, and of free appends none is lost', async () => {
    const { agent } = await fixture.agent()
    await make(agent, write('first', 0))
    await make(agent, remove(1))
    const became = await atOnce(agent, (n) => (n % 2 ? restore(1, 0) : append(`|${n}|`, 0)))
    expect(became.filter(isDone)).toHaveLength(1)
    const free = await atOnce(agent, (n) => (n === 3 ? restore(1, 3) : append(`|${n}|`)))
    const saved = free.filter(({ outcome }) => outcome === 'saved').length
    expect(saved).toBeGreaterThanOrEqual(AT_ONCE - 1)
    const versions = (await versionsOf(agent)).map((each) => each.version)
    expect(versions).toEqual(Array.from({ length: 3 + saved }, (_, n) => 3 + saved - n))
    const texts = await Promise.all(
      versions.map((version) => fixture.store().readVersion(agent, 'plan', version)),
    )
    const all = texts.map((each) => (each.outcome === 'found' ? each.memory.text : '')).join('\n')
    for (let n = 0; n < AT_ONCE; n++) if (n !== 3) expect(all).toContain(`|${n}|`)
    await eventsOf(agent)
  })

  test('of a rename, a write and a delete of one version exactly one is made', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { agent } = await fixture.agent()
      await make(agent, write('first', 0))
      const of = [rename('plan', 'new', 1), write('second', 1), remove(1)]
      const became = await atOnce(agent, (n) => of[n % 3] ?? remove(1))
      expect(became.filter(isDone)).toHaveLength(1)
      expect(await eventsOf(agent)).toHaveLength(2)
      const kept = [await versionsOf(agent), await versionsOf(agent, 'new')]
      expect(kept.flat().map(({ version }) => version)).toEqual([2, 1])
    }
  })

  test('one name is given to one memory, whatever is written there', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { agent } = await fixture.agent()
      for (const key of ['a', 'b']) await make(agent, write(key, 0, key))
      const of = [rename('a', 'new', 1), rename('b', 'new', 1), write('new', 0, 'new')]
      const became = await atOnce(agent, (n) => of[n % 3] ?? remove(1))
      expect(became.filter(isDone)).toHaveLength(1)
      const memories = (await exported(fixture.store(), agent)) ?? []
      const texts = memories.map(({ text }) => text).toSorted()
      const won = became.find(isDone)
      const created = won?.outcome === 'saved' && won.memory.text === 'new'
      expect(texts).toEqual(created ? ['a', 'b', 'new'] : ['a', 'b'])
      expect(await eventsOf(agent)).toHaveLength(3)
    }
  })

  test('a batch and single writes never share a version, and a batch is never half there', async () => {
    const { agent } = await fixture.agent()
    await make(agent, write('0', 0), write('0', 0, 'other'))
    let [plan, other] = [1, 1]
    for (let round = 0; round < ROUNDS; round++) {
      const [p, o] = [plan, other]
      const became = await atOnce(agent, (n) =>
        n % 2 ? write(`single ${n}`, p) : [write('batch', p), write('batch', o, 'other')],
      )
      const [won, ...more] = became.filter(isDone)
      expect(more).toEqual([])
      plan++
      if (won?.outcome === 'saved' && won.memory.text === 'batch') other++
    }
    const both = (await exported(fixture.store(), agent))?.map(({ version }) => version)
    expect(both).toEqual([other, plan])
    expect(await eventsOf(agent)).toHaveLength(plan + other)
  })

  test('an export beside erasures and batches is a home as it was at one moment', async () => {
    const { agent, operator } = await fixture.agent()
    const keys = Array.from({ length: 20 }, (_, n) => `k${10 + n}`)
    await make(agent, ...keys.map((key) => write('0', 0, key)))
    let over = false
    const change = async () => {
      for (let round = 1; round <= ROUNDS; round++) {
        const [erased = ''] = keys
        await make(
          agent,
          ...keys.map((key) => write(`${round}`, key === erased && round > 1 ? 0 : round, key)),
        )
        await fixture.store().eraseMemory(operator, erased, 'all', NOON)
      }
    }
    const changing = change().finally(() => {
      over = true
    })
    const read = async () => {
      const answer = await fixture.store().exportMemories(agent)
      if (answer.outcome !== 'export') throw new Error(answer.outcome)
      const memories = await Array.fromAsync(answer.memories)
        .then((batches) => batches.flat())
        .catch(brokenOff)
      answer.close()
      if (!memories) return
      expect(memories).toHaveLength(answer.memoryCount)
      expect(new Set(memories.map(({ text }) => text)).size).toBe(1)
      expect([keys, keys.slice(1)]).toContainEqual(memories.map(({ key }) => key))
    }
    while (!over) await read()
    await changing
    await read()
    const events = await eventsOf(agent)
    expect(tally(events.map(({ type }) => ({ outcome: type })))).toEqual({
      write: keys.length * (ROUNDS + 1),
      erase: ROUNDS,
    })
  })
})
