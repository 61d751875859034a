/** Directories are made, or it is said why they cannot be. */
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeDirectories } from '../src/directories.ts'
import { temporaryDirectory } from './harness.ts'

test('all of them are made, once, with the mode that is asked for', () => {
  const path = join(temporaryDirectory(), 'a', 'b', 'c')
  makeDirectories(path, 0o700)
  makeDirectories(path, 0o755)
  for (const each of [path, join(path, '..')]) expect(statSync(each).mode & 0o777).toBe(0o700)
})

test('below a file there are none', () => {
  const file = join(temporaryDirectory(), 'file')
  writeFileSync(file, '')
  expect(() => makeDirectories(file)).toThrow('EEXIST')
  expect(() => makeDirectories(join(file, 'a', 'b'))).toThrow('ENOTDIR')
})
