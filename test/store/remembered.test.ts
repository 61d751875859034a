/** Whom tokens speak for is remembered, and forgotten when what was remembered may be untrue. */
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { OutcomeUnknown } from '../../src/store/port/errors.ts'
import type { Identity } from '../../src/store/port/identity.ts'
import type { Store } from '../../src/store/port/store.ts'
import { openSqlite } from '../../src/store/sqlite/store.ts'
import { engines, type TestDatabase } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, newWrite, noLimits } from './fixture.ts'

let database: TestDatabase
let store: Store
let thread: Worker
let agent: Identity
let operator: Identity

const keepThread = (worker: Worker): void => {
  thread = worker
}

beforeEach(async () => {
  const [embedded] = engines
  if (!embedded) throw new Error('no engine')
  database = await embedded.fresh()
  process.once('worker', keepThread)
  store = await openSqlite(database.url, NOON, unbounded)
  const birth = newBirth()
  await store.bear(birth, noLimits, NOON)
  const { agentId } = birth
  agent = { agentId, kind: 'agent', tokenHash: birth.agentTokenHash, status: 'active' }
  operator = { agentId, kind: 'operator', tokenHash: birth.operatorTokenHash, status: 'active' }
})

afterEach(async () => {
  await store.close()
  await database.drop()
})

/** What another hand does to the database while the store holds it. */
function byHand(sql: string, ...values: string[]): void {
  const db = new DatabaseSync(database.url.replace('sqlite:', ''), { timeout: 5_000 })
  if (values.length > 0) db.prepare(sql).run(...values)
  else db.exec(sql)
  db.close()
}

/** From now on a commit that holds a memory under this key fails, with all that is in it. */
const failCommitsWith = (key: string): void =>
  byHand(`
    CREATE TABLE owed (to_whom TEXT REFERENCES agents (agent_id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER never_paid AFTER INSERT ON memories WHEN new.key = '${key}'
      BEGIN INSERT INTO owed VALUES ('nobody'); END`)

const write = (identity: Identity, key: string) =>
  store.writeMemory(identity, newWrite({ key }), NOON)

test('a pause that was rolled back is forgotten by what was decided after it', async () => {
  failCommitsWith('broken')
  const lost = await Promise.allSettled([
    store.setStatus(operator, 'paused', NOON),
    write(agent, 'while paused'),
    write(operator, 'broken'),
  ])
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await write(agent, 'afterwards')).toMatchObject({ outcome: 'saved' })
})

test('a token whose rotation was rolled back opens nothing, and the one before it does', async () => {
  failCommitsWith('broken')
  const renewed = { ...agent, tokenHash: newBirth().agentTokenHash }
  const lost = await Promise.allSettled([
    store.rotateAgentToken(operator, renewed.tokenHash, NOON),
    write(renewed, 'with the new token'),
    write(operator, 'broken'),
  ])
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await write(renewed, 'afterwards')).toEqual({ outcome: 'revoked' })
  expect(await write(agent, 'afterwards')).toMatchObject({ outcome: 'saved' })
})

/** The writer ends before it has answered; by hand we do what it may have done. */
async function unknown(change: Promise<unknown>, ...done: [string, ...string[]]): Promise<void> {
  const rejected = expect(change).rejects.toBeInstanceOf(OutcomeUnknown)
  byHand(...done)
  await thread.terminate()
  await rejected
}

test('a rotation whose outcome is unknown leaves no token remembered', async () => {
  expect(await store.identify(agent.tokenHash)).toEqual(agent)
  const renewed = newBirth().agentTokenHash
  await unknown(
    store.rotateAgentToken(operator, renewed, NOON),
    'UPDATE credentials SET token_hash = ? WHERE token_hash = ?',
    renewed,
    agent.tokenHash,
  )
  expect(await store.identify(agent.tokenHash)).toBeUndefined()
  expect(await store.readProfile(agent)).toEqual({ outcome: 'revoked' })
  expect(await store.identify(renewed)).toEqual({ ...agent, tokenHash: renewed })
})

test('a pause whose outcome is unknown leaves no status remembered', async () => {
  expect(await store.identify(agent.tokenHash)).toEqual(agent)
  await unknown(
    store.setStatus(operator, 'paused', NOON),
    'UPDATE credentials SET status = ? WHERE token_hash = ?',
    'paused',
    agent.tokenHash,
  )
  expect(await store.identify(agent.tokenHash)).toEqual({ ...agent, status: 'paused' })
  expect(await store.readMemory(agent, 'plan')).toEqual({ outcome: 'paused' })
})
