import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDatabase } from '../../src/store/maintenance.ts'
import { processTimers } from '../../src/timers.ts'
import type { Asked } from '../asked.ts'
import { timesPromised } from '../effort.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'
import { begin, birth, exportAll, profile, rotate, SLOTS, setStatus, type Who } from './model.ts'
import {
  erase,
  events,
  list,
  make,
  makeAll,
  mark,
  protect,
  read,
  readVersion,
  rollBack,
  versions,
  type Wish,
} from './model-changes.ts'

/** A longer hunt is a larger number here. */
const HISTORIES = timesPromised(240)

// Most of it happens to one of them, that much happens to it.
const slot = fc.constantFrom(0, 0, 0, 0, ...Array.from({ length: SLOTS }, (_, at) => at))
const who: fc.Arbitrary<Who> = fc.constantFrom('agent', 'agent', 'operator', 'operator', 'revoked')
const key = fc.constantFrom('plan', 'Plan', 'notes.1')
const payload = fc.constantFrom('a', 'b', '🌱', 'Крок')

const passage = fc.constantFrom('a', 'b', '🌱', 'К', 'ab')
const by = fc.constantFrom('', 'b', 'Крок', '$&')
const version = fc.integer({ min: 1, max: 6 })

const expectedVersion = fc.constant(0)
const perhapsExpected = fc.constantFrom(undefined, undefined, 0)

const kind = <const Kind extends string>(...kinds: Kind[]) => fc.constantFrom(...kinds)

const asked: fc.Arbitrary<Asked> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ kind: kind('write', 'patch'), key, expectedVersion, payload }),
  },
  fc.record({ kind: kind('append'), key, expectedVersion: perhapsExpected, payload }),
  fc.record({
    ...{ kind: kind('edit'), key, expectedVersion: perhapsExpected, old: passage, payload: by },
  }),
  fc.record({ kind: kind('delete'), key, expectedVersion }),
  fc.record({ kind: kind('restore'), key, expectedVersion, version }),
  fc.record({ kind: kind('rename'), key, to: key, expectedVersion }),
)

const wish: fc.Arbitrary<Wish> = fc.record({
  asked,
  behind: fc.constantFrom(0, 0, 0, 0, 0, 1, 2, -1),
})

const wishes = fc.array(wish, { minLength: 2, maxLength: 4 })

const commands = fc.commands(
  [
    fc.tuple(slot, fc.constantFrom('Atlas', 'Atlas', 'Atlas', 'Мрія')).map((a) => birth(...a)),
    ...Array.from({ length: 18 }, () => fc.tuple(slot, who, wish).map((a) => make(...a))),
    ...Array.from({ length: 4 }, () => fc.tuple(slot, who, wishes).map((a) => makeAll(...a))),
    fc.tuple(slot, who, key).map((a) => read(...a)),
    fc.tuple(slot, who).map((a) => profile(...a)),
    fc.tuple(slot, who, fc.constantFrom('active', 'active', 'paused')).map((a) => setStatus(...a)),
    fc.tuple(slot, who).map((a) => rotate(...a)),
    fc.tuple(slot, who).map((a) => exportAll(...a)),
    fc.tuple(slot, who, key, fc.constantFrom('all', 'history')).map((a) => erase(...a)),
    fc.tuple(slot, who, key, fc.boolean()).map((a) => protect(...a)),
    ...Array.from({ length: 2 }, () => fc.tuple(slot).map((a) => mark(...a))),
    ...Array.from({ length: 2 }, () => fc.tuple(slot, who).map((a) => rollBack(...a))),
    fc.tuple(slot, who, key).map((a) => versions(...a)),
    fc.tuple(slot, who, key, version).map((a) => readVersion(...a)),
    fc.tuple(slot, who).map((a) => list(...a)),
    fc.tuple(slot, who).map((a) => events(...a)),
  ],
  { maxCommands: 100, size: 'max' },
)

describe.each(engines)('the home on $name', (engine) => {
  let service: TestService
  let place = ''
  beforeAll(async () => {
    const database = await engine.fresh()
    place = database.url.replace(/^sqlite:/, '')
    const fresh = async () => database
    service = await openService(
      { ...engine, fresh },
      {
        ...{ BIRTHS_PER_HOUR_PER_ADDRESS: '0', BIRTHS_PER_HOUR: '0', READS_PER_MINUTE: '0' },
        ...{ WRITES_PER_MINUTE: '0', EXPORTS_PER_MINUTE: '0', CONTROLS_PER_MINUTE: '0' },
      },
    )
  })
  afterAll(() => service.close())

  test(
    'does what its model does, in any order of births, changes, erasures, rollbacks, reads, pauses, rotations and exports',
    proves('service.memories', 'service.controls', 'replay.same', 'replay.rotated', 'keys.revoke'),
    async () => {
      const property = fc.asyncProperty(commands, (history) =>
        fc.asyncModelRun(() => begin(service), [birth(0, 'Atlas'), ...history]),
      )
      await fc.assert(property, { numRuns: HISTORIES })
      // Nothing of what was done is a fault to whoever verifies the data.
      expect((await verifyDatabase(place, processTimers, () => {})).faults).toEqual([])
    },
  )
})
