/** Writes of one commit: what fails leaves nothing, and a storage that fails takes all with it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { type Job, prepareGroupCommit } from '../../src/store/sqlite/engine/group-commit.ts'
import { prepareWrites } from '../../src/store/sqlite/engine/writes.ts'
import { migrate } from '../../src/store/sqlite/schema/migrations.ts'
import { temporaryDirectory } from '../harness.ts'
import { unbounded } from '../unbounded.ts'
import { NOON, newBirth, newEntry, newWrite, noLimits } from './fixture.ts'

function openGroups() {
  const directory = temporaryDirectory()
  const db = openWriter(join(directory, 'home.db'))
  migrate(db, directory)
  onTestFinished(() => {
    db.close()
    rmSync(directory, { recursive: true })
  })
  const writes = prepareWrites(db, unbounded)
  const beats: number[] = []
  /** The storage fails the heartbeat, and nothing but the heartbeat. */
  const checkWritable = (now: number) => {
    beats.push(now)
    db.exec('PRAGMA query_only = ON')
    try {
      writes.verbs.checkWritable(now)
    } finally {
      db.exec('PRAGMA query_only = OFF')
    }
  }
  const serving = (heartbeat: (now: number) => void) =>
    prepareGroupCommit(db, { ...writes, verbs: { ...writes.verbs, checkWritable: heartbeat } })
  const commit = serving(checkWritable)
  const birth = newBirth()
  const { agentId, agentTokenHash: tokenHash } = birth
  const agent = { agentId, kind: 'agent', tokenHash, status: 'active' } as const
  commit([['bear', birth, noLimits, NOON]])
  const write = (key: string): Job => ['writeMemory', agent, newWrite({ key }), 0, NOON]
  const read = (key: string): Job => ['changeMemories', agent, [{ verb: 'read', key }], NOON]
  const all = (sql: string) => db.prepare(sql).all().flatMap(Object.values)
  return {
    beats,
    birth,
    commit,
    write,
    read,
    keys: () => all('SELECT key FROM memories ORDER BY key'),
    agents: () => all('SELECT agent_id AS id FROM agents'),
    entries: () => all('SELECT n, id FROM entries'),
    counted: () => all('SELECT room, entries FROM room_counts'),
    accounts: () => all('SELECT id FROM accounts'),
    /** A heartbeat that throws this. */
    commitAs: (thrown: unknown) =>
      serving(() => {
        throw thrown
      })([['checkWritable', NOON]]),
    failHeartbeat: ['checkWritable', NOON] satisfies Job,
  }
}

test('a write that fails halfway leaves nothing, and its neighbours are kept', () => {
  const { birth, commit, write, keys, agents, accounts } = openGroups()
  const account = { create: { id: 'a', email: 'ada@example.org', passwordHash: 'x' } }
  const stray = newBirth({ account, operatorTokenHash: birth.agentTokenHash })
  const { outcomes, changed } = commit([
    write('before'),
    ['bear', stray, noLimits, NOON],
    write('after'),
  ])
  expect(outcomes).toMatchObject([
    { value: { outcome: 'saved' } },
    { error: { message: expect.stringContaining('UNIQUE') }, fault: undefined },
    { value: { outcome: 'saved' } },
  ])
  expect(changed).toBeGreaterThan(0)
  expect(keys()).toEqual(['after', 'before'])
  expect([agents(), accounts()]).toEqual([[birth.agentId], []])
})

const unavailable = {
  error: { message: expect.stringContaining('readonly') },
  fault: 'unavailable',
}

test('where the storage fails, every write of the group fails with it, and none is tried again', () => {
  const { beats, commit, write, failHeartbeat, keys } = openGroups()
  expect(commit([write('before'), failHeartbeat, write('after')])).toMatchObject({
    outcomes: [unavailable, unavailable, unavailable],
    changed: 0,
  })
  expect([keys(), beats]).toEqual([[], [NOON]])
})

test('where the storage fails after a write did, every write of the group fails all the same', () => {
  const { birth, commit, write, failHeartbeat, keys } = openGroups()
  const stray = newBirth({ agentId: birth.agentId })
  const jobs: Job[] = [write('before'), ['bear', stray, noLimits, NOON], failHeartbeat]
  expect(commit(jobs)).toMatchObject({
    outcomes: [unavailable, unavailable, unavailable],
    changed: 0,
  })
  expect(keys()).toEqual([])
})

test('after a storage that failed, writes are committed again', () => {
  const { commit, write, failHeartbeat, keys } = openGroups()
  commit([write('lost'), failHeartbeat])
  expect(commit([write('kept')])).toMatchObject({ changed: 3 })
  expect(keys()).toEqual(['kept'])
})

const arrival = (digit: number) =>
  newEntry({ id: `01a00000-0000-7000-8000-00000000000${digit}`, labels: [] })

test('an arrival that was undone leaves no place in the order, and counts nowhere', () => {
  const { commit, entries, counted, failHeartbeat } = openGroups()
  commit([['leaveEntry', arrival(9)], failHeartbeat])
  commit([['leaveEntry', arrival(1)]])
  expect(entries()).toEqual([1, arrival(1).id])
  expect(counted()).toEqual(['memory-garden', 1])
})

test('what is thrown without being an error is told as one', () => {
  const { commitAs } = openGroups()
  expect(commitAs('a word')).toMatchObject({ outcomes: [{ error: new Error('a word') }] })
})

test('what changed nothing is no commit, though what was undone before it changed rows', () => {
  const { birth, commit, write, read, failHeartbeat } = openGroups()
  const again: Job = ['bear', birth, noLimits, NOON]
  expect(commit([again]).changed).toBe(0)
  expect(commit([read('plan')]).changed).toBe(0)
  commit([write('lost'), failHeartbeat])
  expect(commit([again]).changed).toBe(0)
  const stray = newBirth({ operatorTokenHash: birth.agentTokenHash })
  expect(commit([['bear', stray, noLimits, NOON], again]).changed).toBe(0)
  expect(commit([['bear', stray, noLimits, NOON], write('kept')]).changed).toBe(3)
  expect(commit([again]).changed).toBe(0)
})
