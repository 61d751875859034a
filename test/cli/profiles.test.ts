/** The file in which the command line keeps tokens, by names that its user chooses. */
import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { profileOf, saveProfile } from '../../src/cli/remote/profiles.ts'
import { temporaryDirectory } from '../harness.ts'

const fresh = (): string => join(temporaryDirectory(), 'profiles.json')

const saved = (token: string) => ({ url: 'http://127.0.0.1:8787', token })

test.each(['atlas', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', 'ж 🌱'])(
  'a profile that is called "%s" is kept, beside others',
  (name) => {
    const path = fresh()
    expect(profileOf(name, path)).toBeUndefined()
    saveProfile('before', saved('aha_before'), path)
    expect(profileOf(name, path)).toBeUndefined()
    saveProfile(name, saved('aha_its-own'), path)
    saveProfile('after', saved('aha_after'), path)
    expect(profileOf(name, path)).toEqual(saved('aha_its-own'))
    expect(profileOf('before', path)).toEqual(saved('aha_before'))
    expect(profileOf('after', path)).toEqual(saved('aha_after'))
    expect(statSync(path).mode & 0o777).toBe(0o600)
  },
)

test.each([
  ['[]', 'profiles'],
  ['{"profiles":[]}', 'profiles: must be an object'],
  ['{"profiles":{"a":{"url":1,"token":"aha_x"}}}', 'profiles.a.url'],
  ['{"profiles":{"a":{"url":"x","token":"y","more":"z"}}}', 'profiles.a.more'],
  ['{"profiles":{"a":"aha_x"}}', 'profiles.a: must be an object'],
  ['{"profiles":{"__proto__":{"url":"x"}}}', 'profiles.__proto__.token'],
])('%s is not a profile file', (text, place) => {
  const path = fresh()
  writeFileSync(path, text, { mode: 0o600 })
  expect(() => profileOf('a', path)).toThrow('is not a profile file')
  if (text !== '[]') expect(() => profileOf('a', path)).toThrow(place)
})
