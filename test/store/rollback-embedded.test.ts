/** What others do between the steps of a rollback: arranged, not left to luck. */
import { expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { transact } from '../../src/store/sqlite/engine/connection.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newWrite } from './fixture.ts'
import { db, newHome, openDatabase, openWork, type Work } from './import-work.ts'
import { checkHome, tablesOf } from './memories/tables.ts'

openDatabase()

const nameOf = (n: number): string => `k${String(n).padStart(3, '0')}`

function write({ verbs }: Work, identity: Identity, key: string, text: string, before = 0) {
  const change = newWrite({ key, text, expectedVersion: before })
  const { outcome } = transact(db, () => verbs.writeMemory(identity, change, NOON))
  expect(outcome).toBe('saved')
}

/** What is done once it was seen what it would do, and before it begins. */
function meanwhile(work: () => void) {
  let isDone = false
  return (verb: string) => {
    if (verb !== 'writeBatch' || isDone) return
    isDone = true
    work()
  }
}

const back = (work: Work, identity: Identity, to: number) =>
  work.rollBack(identity, { to, prefix: '', dryRun: false }, NOON)

const typesAfter = ({ agentId }: Identity, id: number) =>
  db
    .prepare('SELECT event FROM log WHERE agent_id = ? AND id > ? ORDER BY id')
    .all(agentId, id)
    .map(({ event }) => event)

test('what was done before it began is taken back, and what is over is pruned once it has ended', async () => {
  const before = openWork()
  const identity = newHome(before)
  for (let n = 0; n < 150; n++) write(before, identity, nameOf(n), 'then')
  const to = 150
  for (let n = 0; n < 150; n++) write(before, identity, nameOf(n), 'since', 1)
  // As they were: nothing is to be done about these.
  for (let n = 0; n < 9; n++) write(before, identity, nameOf(n), 'then', 2)
  const bounds = { ...unbounded.home, versions: 2, bytes: 2_000, events: 64 }
  const late = meanwhile(() => write(before, identity, 'late', 'since'))
  const answer = await back(openWork(late, bounds), identity, to)
  expect(answer).toMatchObject({ restored: 141, deleted: 1, unchanged: 9, skipped: [] })
  const living = db.prepare(
    'SELECT m.key FROM memories m JOIN log l USING (n) WHERE m.agent_id = ? AND l.text = ?',
  )
  expect(living.all(identity.agentId, 'then')).toHaveLength(150)
  expect(living.all(identity.agentId, 'since')).toEqual([])
  checkHome(tablesOf(db)(identity.agentId), bounds)
})

test('where others have left nothing to take back no event says that it began, and it is skipped', async () => {
  const before = openWork()
  const identity = newHome(before)
  write(before, identity, 'a', 'then')
  write(before, identity, 'a', 'since', 1)
  const erase = meanwhile(() => {
    transact(db, () => before.verbs.eraseMemory(identity, 'a', [1], NOON))
  })
  expect(await back(openWork(erase), identity, 1)).toEqual({
    ...{ outcome: 'rolled_back', restored: 0, deleted: 0, unchanged: 0 },
    ...{ skipped: ['a'], changes: [] },
  })
  expect(typesAfter(identity, 2)).toEqual(['erase'])
})

test('of a long one, what lost its version is skipped, also right before its batch is written', async () => {
  const before = openWork()
  const identity = newHome(before)
  for (let n = 0; n < 150; n++) write(before, identity, nameOf(n), 'then')
  for (let n = 0; n < 150; n++) write(before, identity, nameOf(n), 'since', 1)
  transact(db, () => before.verbs.eraseMemory(identity, nameOf(3), [1], NOON))
  let batches = 0
  // The first of them says that it begins, and the next is of what it has read before.
  const erase = (verb: string) => {
    if (verb !== 'writeBatch' || ++batches !== 2) return
    transact(db, () => before.verbs.eraseMemory(identity, nameOf(7), [1], NOON))
  }
  const answer = await back(openWork(erase), identity, 150)
  expect(answer).toMatchObject({ restored: 148, deleted: 0, skipped: [nameOf(3), nameOf(7)] })
})
