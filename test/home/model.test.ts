import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyDatabase } from '../../src/store/at-rest.ts'
import { processTimers } from '../../src/timers.ts'
import { times } from '../effort.ts'
import { engines, openService, type TestService } from '../harness.ts'
import { proves } from '../requirements.ts'
import {
  begin,
  birth,
  exportAll,
  profile,
  read,
  rotate,
  SLOTS,
  setStatus,
  type Who,
  write,
} from './model.ts'
import {
  append,
  edit,
  erase,
  events,
  list,
  mark,
  patch,
  protect,
  readVersion,
  remove,
  renameAndLog,
  restore,
  rollBack,
  versions,
} from './model-changes.ts'

/** A longer hunt is a larger number here. */
const HISTORIES = times(60)

// Most of it happens to one of them, that much happens to it.
const slot = fc.constantFrom(0, 0, 0, 0, ...Array.from({ length: SLOTS }, (_, at) => at))
const who: fc.Arbitrary<Who> = fc.constantFrom('agent', 'agent', 'operator', 'operator', 'revoked')
const key = fc.constantFrom('plan', 'Plan', 'notes.1')
const text = fc.constantFrom('a', 'b', '🌱', 'Крок')

const passage = fc.constantFrom('a', 'b', '🌱', 'К', 'ab')
const by = fc.constantFrom('', 'b', 'Крок', '$&')

const behind = fc.constantFrom(0, 0, 0, 0, 0, 1, 2, -1)

const commands = fc.commands(
  [
    fc.tuple(slot, fc.constantFrom('Atlas', 'Atlas', 'Atlas', 'Мрія')).map((a) => birth(...a)),
    fc.tuple(slot, who, key, text, behind).map((a) => write(...a)),
    fc.tuple(slot, who, key).map((a) => read(...a)),
    fc.tuple(slot, who).map((a) => profile(...a)),
    fc.tuple(slot, who, fc.constantFrom('active', 'active', 'paused')).map((a) => setStatus(...a)),
    fc.tuple(slot, who).map((a) => rotate(...a)),
    fc.tuple(slot, who).map((a) => exportAll(...a)),
    fc.tuple(slot, who, key, behind).map((a) => remove(...a)),
    fc.tuple(slot, who, key, text, behind).map((a) => patch(...a)),
    fc.tuple(slot, who, key, text).map((a) => append(...a)),
    fc.tuple(slot, who, key, passage, by).map((a) => edit(...a)),
    fc.tuple(slot, who, key, fc.integer({ min: 1, max: 6 }), behind).map((a) => restore(...a)),
    fc.tuple(slot, who, key, key).map((a) => renameAndLog(...a)),
    fc.tuple(slot, who, key, fc.constantFrom('all', 'history')).map((a) => erase(...a)),
    fc.tuple(slot, who, key, fc.boolean()).map((a) => protect(...a)),
    fc.tuple(slot).map((a) => mark(...a)),
    fc.tuple(slot, who).map((a) => rollBack(...a)),
    fc.tuple(slot, who, key).map((a) => versions(...a)),
    fc.tuple(slot, who, key, fc.integer({ min: 1, max: 6 })).map((a) => readVersion(...a)),
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
        fc.asyncModelRun(() => begin(service), history),
      )
      await fc.assert(property, { numRuns: HISTORIES })
      // Nothing of what was done is a fault to whoever verifies the data.
      expect((await verifyDatabase(place, processTimers, () => {})).faults).toEqual([])
    },
  )
})
