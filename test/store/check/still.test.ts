/** A file is read as of one moment, though somebody writes it while it is read. */
import { existsSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { readFileOf } from '../../../src/store/sqlite/check/still.ts'
import { openWriter } from '../../../src/store/sqlite/engine/connection.ts'
import { temporaryDirectory } from '../../harness.ts'

/** As a process leaves it that ended well: no log beside it. */
function fresh(): string {
  const path = join(temporaryDirectory(), 'home.db')
  const db = openWriter(path)
  db.exec('CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)')
  db.close()
  expect(existsSync(`${path}-wal`)).toBe(false)
  // Two changes in one tick of the system's clock have the same time.
  utimesSync(path, 1, 1)
  return path
}

const read = (db: DatabaseSync) => db.prepare('SELECT n FROM t').get()?.n

/** Reads, and has this done between the first reading and its end. */
function readBeside(path: string, meanwhile: () => void): { found: unknown; readings: number } {
  let readings = 0
  const found = readFileOf(path, (db) => {
    const n = read(db)
    if (++readings === 1) meanwhile()
    return n
  })
  return { found, readings }
}

function change(path: string): DatabaseSync {
  const db = openWriter(path)
  db.exec('UPDATE t SET n = 2')
  return db
}

test('a file that nobody writes is read once', () => {
  expect(readBeside(fresh(), () => {})).toEqual({ found: 1, readings: 1 })
})

test('a file that somebody wrote meanwhile is read again', () => {
  const path = fresh()
  expect(readBeside(path, () => change(path).close())).toEqual({ found: 2, readings: 2 })
})

test('so is one that somebody writes still', () => {
  const path = fresh()
  let writer: DatabaseSync | undefined
  const answer = readBeside(path, () => {
    writer = change(path)
  })
  expect(answer).toEqual({ found: 2, readings: 2 })
  writer?.close()
})

test('so is one whose time of change was set back: a service marks its file with a time', () => {
  const path = fresh()
  const changedAt = () => statSync(path, { bigint: true }).ctimeNs
  const before = changedAt()
  const set = () => {
    change(path).close()
    // Nobody sets the time of this: until the system's clock has ticked, it is the same.
    while (changedAt() === before) utimesSync(path, 1, 1)
    utimesSync(path, 1, 1)
  }
  expect(readBeside(path, set)).toEqual({ found: 2, readings: 2 })
})

test('what cannot be read in a file that somebody wrote meanwhile is no fault of it', () => {
  const path = fresh()
  let readings = 0
  const found = readFileOf(path, (db) => {
    if (++readings > 1) return read(db)
    change(path).close()
    throw new Error('half of it is new')
  })
  expect([found, readings]).toEqual([2, 2])
  const failing = () => {
    throw new Error('it is broken')
  }
  expect(() => readFileOf(path, failing)).toThrow('it is broken')
})
