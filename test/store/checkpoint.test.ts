/** When the embedded engine looks whether its log is to be moved into the database. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { prepareUpkeep } from '../../src/store/sqlite/engine/checkpoint.ts'
import { openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { processTimers } from '../../src/timers.ts'
import { temporaryDirectory } from '../harness.ts'

test('the log is looked at after some rows, and at once for who waits for it', () => {
  const directory = temporaryDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'home.db')
  const db = openWriter(path)
  const file = openSync(path, 'r+')
  const upkeep = prepareUpkeep(db, path, file, processTimers)
  db.exec('CREATE TABLE long (text TEXT)')
  const write = (rows: number) => {
    const insert = db.prepare('INSERT INTO long VALUES (zeroblob(100000))')
    for (let row = 0; row < rows; row++) insert.run()
  }
  const unmoved = (): number => {
    const { log, checkpointed } = db.prepare('PRAGMA wal_checkpoint(NOOP)').get() ?? {}
    return Number(log) - Number(checkpointed)
  }

  write(100)
  upkeep.bound(100)
  expect(unmoved()).toBeGreaterThan(2_000)
  upkeep.bound(0)
  expect(unmoved()).toBe(0)

  write(100)
  upkeep.bound(100)
  expect(unmoved()).toBeGreaterThan(2_000)
  upkeep.bound(200)
  expect(unmoved()).toBe(0)

  upkeep.close()
  db.close()
  closeSync(file)
})
