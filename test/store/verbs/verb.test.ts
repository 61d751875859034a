/** Verbs that are written once, and the statements that they ask. */
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { prepareVerbs } from '../../../src/store/sqlite/engine/run.ts'
import { ask, statement, type Verb } from '../../../src/store/verbs/verb.ts'

const add = statement('verb_test_add', 'INSERT INTO things (name, isNew, size) VALUES ($2, $1, $3)')

const read = statement<{ name: string; isNew: number; size: number | null }>(
  'verb_test_read',
  'SELECT name, isNew, size FROM things WHERE name = $1 FOR UPDATE',
)

test('two statements cannot have one name, for a connection that knows one refuses the other', () => {
  expect(() => statement('verb_test_add', 'SELECT 1')).toThrow('two statements are named')
  expect(statement('verb_test_add', add.text)).toEqual(add)
  expect([statement('', 'SELECT 1'), statement('', 'SELECT 2')]).toHaveLength(2)
})

test('a statement that is given no name has one of its own, which follows from its text', () => {
  const one = statement('SELECT 1')
  expect(statement('SELECT 1')).toEqual(one)
  expect(one.name).toMatch(/^[\da-f]{32}$/)
  expect(statement('SELECT 2').name).not.toBe(one.name)
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
