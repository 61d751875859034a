/** Verbs that are written once, and the statements that they ask. */
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { prepareVerbs } from '../../../src/store/sqlite/engine/run.ts'
import { ask, statement, unprepared, type Verb } from '../../../src/store/verbs/verb.ts'

const add = statement('INSERT INTO things (name, isNew, size) VALUES ($2, $1, $3)')

const read = statement<{ name: string; isNew: number; size: number | null }>(
  'SELECT name, isNew, size FROM things WHERE name = $1 FOR UPDATE',
)

test('a statement has a name of its own, which follows from its text', () => {
  const one = statement('SELECT 1')
  expect(statement('SELECT 1')).toEqual(one)
  expect(one.name).toMatch(/^[\da-f]{32}$/)
  expect(statement('SELECT 2').name).not.toBe(one.name)
  expect(unprepared('SELECT 1').name).toBe('')
})

test('on SQLite a verb runs to its end at once, each parameter by its number', () => {
  const db = new DatabaseSync(':memory:')
  db.exec('CREATE TABLE things (name TEXT, isNew INTEGER, size INTEGER)')
  const verbs = prepareVerbs(db, {
    *make(name: string): Verb<string> {
      yield* ask(add, true, name, undefined)
      const [row] = yield* ask(read, name)
      return JSON.stringify(row)
    },
  })
  expect(verbs.make('a')).toBe('{"name":"a","isNew":1,"size":null}')
  expect(verbs.make('b')).toBe('{"name":"b","isNew":1,"size":null}')
  db.close()
})
