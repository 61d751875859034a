/**
 * What is decided before a store is asked, at every endpoint of every door. And the battery is
 * tried on itself: each endpoint is served without each of its guards, and the battery must find a
 * fault. A guard whose absence nothing notices needs a check.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Endpoint } from '../../src/pipeline/endpoint.ts'
import type { AnyGuard } from '../../src/pipeline/guard.ts'
import { runner } from '../../src/pipeline/run.ts'
import { promised } from '../effort.ts'
import { endpoints } from '../endpoints.ts'
import { engines } from '../harness.ts'
import { proves } from '../requirements.ts'
import { askedRights } from './all.ts'
import { atTheDoor, type Part, parts } from './battery/battery.ts'
import type { Replace } from './doors.ts'
import { type AllDoors, openAllDoors, type Subject, subjectOf } from './subject.ts'
import { openWorld, type World } from './world.ts'

let world: World
let doors: AllDoors
beforeAll(async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  world = await openWorld(embedded)
  doors = openAllDoors(world)
})
afterAll(() => world.service.close())

/** The endpoint as it would be had somebody left the guard out of its list. */
const without =
  (target: Endpoint<never>, guard: AnyGuard): Replace =>
  (endpoint) => {
    if (endpoint !== target) return endpoint
    const left = { ...endpoint, guards: endpoint.guards.filter((each) => each !== guard) }
    return { ...left, serve: runner(left, left.handle) }
  }

/** What noticed last that a guard was missing: the first to be asked at the next endpoint. */
const noticedBy = new Map<string, Part>()

async function isMissed(guard: AnyGuard, subject: Subject): Promise<boolean> {
  const likely = noticedBy.get(guard.name)
  for (const part of likely ? [likely, ...parts] : parts) {
    for await (const _ of part(subject)) {
      noticedBy.set(guard.name, part)
      return true
    }
    await subject.settle()
  }
  return false
}

const guarded = endpoints.flatMap((endpoint) => {
  const row = askedRights.find(({ operationId }) => operationId === endpoint.operationId)
  return row && endpoint.guards.length > 0 ? [{ endpoint, row, named: row.operationId }] : []
})

test.each(promised(guarded))(
  'no guard of $named can be left out unnoticed',
  async ({ endpoint, row }) => {
    const unnoticed: string[] = []
    for (const guard of endpoint.guards) {
      const subject = subjectOf(row, world, doors, without(endpoint, guard))
      if (!(await isMissed(guard, subject))) unnoticed.push(guard.name)
      await subject.settle()
    }
    expect(unnoticed).toEqual([])
  },
)

test('every guard that is listed anywhere was left out somewhere', () => {
  const listed = new Set(endpoints.flatMap(({ guards }) => guards.map(({ name }) => name)))
  const tried = guarded.flatMap(({ endpoint }) => endpoint.guards.map(({ name }) => name))
  expect([...listed].filter((name) => !tried.includes(name))).toEqual([])
})

// After the others: what they did to the world is undone, or it shows here.
test.each(askedRights)(
  '$operationId keeps to its rights',
  proves(
    'auth.birth',
    'auth.403.origin',
    'service.no-cookies',
    'errors.birth.403',
    'errors.profile.403',
    'errors.export.403',
    'errors.status.403',
    'errors.keys.403',
    'errors.memory-read.403',
    'errors.memory-write.403',
  ),
  async (row) => {
    const { agents } = await world.service.store.status()
    expect(await Array.fromAsync(atTheDoor(subjectOf(row, world, doors)))).toEqual([])
    if (row.operationId !== 'birthAgent') {
      expect((await world.service.store.status()).agents).toBe(agents)
    }
  },
)
