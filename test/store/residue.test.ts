/** What other programs left in the file of the embedded store is gone with the first erasure. */
import { closeSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { prepareUpkeep } from '../../src/store/sqlite/engine/checkpoint.ts'
import { openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { processTimers } from '../../src/timers.ts'
import { embedded, type TestDatabase, temporaryDirectory } from '../harness.ts'
import { bytesIn, contentIn, contentOf, found, newMark } from './erasing.ts'
import { NOON, openFixture, type StoreFixture } from './fixture.ts'

/** In a page, in several, and beside others. */
const SIZES = [20, 150, 900, 3_000, 9_000]

const at = (directory: string): string => join(directory, 'home.db')

function fill(db: DatabaseSync, table: string, rows: number): string[] {
  db.exec(`CREATE TABLE ${table} (n INTEGER PRIMARY KEY, mark TEXT, text TEXT);
    CREATE INDEX ${table}_by_mark ON ${table} (mark); BEGIN`)
  const insert = db.prepare(`INSERT INTO ${table} (mark, text) VALUES (?, ?)`)
  const marks = Array.from({ length: rows }, (_, n) => {
    const mark = newMark()
    insert.run(mark, contentOf(mark, SIZES[n % SIZES.length] ?? 0).text)
    return mark
  })
  db.exec('COMMIT')
  return marks
}

/** As SQLite is by itself: it overwrites nothing that it gives up. */
function leaveResidue(directory: string): string[] {
  const db = new DatabaseSync(at(directory))
  db.exec('PRAGMA secure_delete = OFF')
  const marks = [...fill(db, 'stays', 1_500), ...fill(db, 'goes', 1_500)]
  db.exec('DELETE FROM stays WHERE n % 3 = 0')
  db.exec('DELETE FROM goes WHERE n % 7 < 3; DROP TABLE goes; DELETE FROM stays WHERE n > 1400')
  db.close()
  return marks
}

const faultsOf = (directory: string): unknown => {
  const db = new DatabaseSync(at(directory), { readOnly: true })
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found.map((row) => row.integrity_check)
}

/** A home with a memory, and another that is written to while the memory is erased. */
async function prepareErasure(fixture: StoreFixture): Promise<() => Promise<void>> {
  const { agent, operator } = await fixture.agent()
  await fixture.write(agent)
  const other = (await fixture.agent()).agent
  return async () => {
    let isOver = false
    const erased = fixture.store().eraseMemory(operator, 'plan', 'all', NOON)
    const erasing = erased.finally(() => {
      isOver = true
    })
    for (let n = 0; !isOver; n++) {
      await fixture.write(other, { key: `k${n}`, text: 'x'.repeat(1 + ((n * 977) % 900)) })
    }
    expect((await erasing).outcome).toBe('erased')
  }
}

/** On a database that outlives it. */
async function openOn({ url, directory }: TestDatabase): Promise<StoreFixture> {
  return openFixture({ ...embedded, fresh: async () => ({ url, directory, drop: async () => {} }) })
}

async function openClosed() {
  const database = await embedded.fresh()
  await (await openOn(database)).close()
  return { database, directory: await database.directory() }
}

test('rows and pages that another program gave up are overwritten, and nothing else', async () => {
  const { database, directory } = await openClosed()
  const marks = leaveResidue(directory)
  const before = contentIn(directory)
  const kept = new Set(found(marks, before))
  const dead = marks.filter((mark) => !kept.has(mark))
  expect(found(dead, bytesIn(directory)).length).toBeGreaterThan(1_000)

  const fixture = await openOn(database)
  const erase = await prepareErasure(fixture)
  await erase()
  expect(found(dead, bytesIn(directory))).toEqual([])
  expect(found(marks, contentIn(directory))).toEqual([...kept])
  expect(faultsOf(directory)).toEqual(['ok'])
  await fixture.close()
  await database.drop()
})

test('a file that somebody else wrote into while it was open is gone through again', async () => {
  const { database, directory } = await openClosed()
  const fixture = await openOn(database)
  const erase = await prepareErasure(fixture)
  const marks = leaveResidue(directory)
  await erase()
  const kept = found(marks, contentIn(directory))
  expect(found(marks, bytesIn(directory))).toEqual(kept)
  expect(faultsOf(directory)).toEqual(['ok'])
  await fixture.close()
  await database.drop()
})

test('pages that are used again between two slices keep what was written there', () => {
  const directory = temporaryDirectory()
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const marks = leaveResidue(directory)
  const db = openWriter(at(directory))
  const file = openSync(at(directory), 'r+')
  const upkeep = prepareUpkeep(db, at(directory), file, processTimers)
  db.exec('CREATE TABLE kept (n INTEGER PRIMARY KEY, text TEXT)')
  const insert = db.prepare('INSERT INTO kept (text) VALUES (?)')
  const written: string[] = []
  while (upkeep.clean() === 'more') {
    for (let n = 0; n < 20; n++) {
      const { text } = contentOf(newMark(), SIZES[n % SIZES.length] ?? 0)
      insert.run(text)
      written.push(text)
    }
  }
  expect(written.length).toBeGreaterThan(60)
  const texts = db.prepare('SELECT text FROM kept ORDER BY n').all()
  expect(texts.map(({ text }) => text)).toEqual(written)
  upkeep.close()
  db.close()
  closeSync(file)
  expect(faultsOf(directory)).toEqual(['ok'])
  expect(found(marks, bytesIn(directory))).toEqual(found(marks, contentIn(directory)))
})
