/** The URL of a database: whatever the driver would ignore or misread is refused. */
import { expect, test } from 'vitest'
import { nameOf } from '../../src/store/maintenance.ts'
import { StoreRefused } from '../../src/store/port/errors.ts'
import { hostsOf, locationOf } from '../../src/store/postgres/engine/hosts.ts'
import { PARAMETERS } from '../../src/store/postgres/engine/parameters.ts'
import { readDocument } from '../readme.ts'

const open = (rest: string) => () => hostsOf(`postgres://me:s3cret${rest}`)

test.each([
  ['?pool_mx=5', / has a parameter that is not supported: pool_mx\. The parameters are pool_max, /],
  ['?pool_max=5&connect_timeout=3', / is not supported: connect_timeout\./],
  ['?Pool_max=5', / is not supported: Pool_max\./],
  ['?constructor=5', / is not supported: constructor\./],
  ['?sslmode=on', / has a parameter with a wrong value: sslmode must be one of disable, /],
  ['?sslmode=', / wrong value: sslmode must be /],
  ['?pool_max=0', / wrong value: pool_max must be a whole number from 1 to 9999\./],
  ['?pool_max=1e1', / wrong value: pool_max /],
  ['?port=0', / wrong value: port /],
  ['?prepared=no', / wrong value: prepared must be one of true, false\./],
  ['?pool_max=5&pool_max=6', / has the parameter pool_max twice\./],
  ['?sslrootcert=none.pem', / sslrootcert must be a file that can be read \(ENOENT\)\./],
  ['?application_name=', / wrong value: application_name must not be empty\./],
  ['?application_name=a&b:s3cret@c', / is not supported: one that is not a name\./],
])('%s is refused', (rest, sentence) => {
  expect(open(`@a,b/home${rest}`)).toThrow(sentence)
  expect(open(`@a,b/home${rest}`)).toThrow(StoreRefused)
  expect(open(`@a,b/home${rest}`)).not.toThrow(/s3cret/)
})

test.each([
  ...['@h:99999/home', '@h:port/home', '@a:5432,b:port/home', '#s3cret@h/home'],
  ...['/s3cret@h/home', ':1/s3cret@h/home', '@h:1#s3cret@h/home'],
])('%s cannot be read, and the password is not shown', (rest) => {
  expect(open(rest)).toThrow(/^The database's URL cannot be read\. It is postgres:/)
  expect(open(rest)).not.toThrow(/s3cret/)
})

test('of a password that is cut in the middle, no part is shown', () => {
  expect(() => hostsOf('postgres://me:12/s3cret@h/home')).toThrow(/percent-encoded/)
  expect(() => hostsOf('postgres://me:12#s3cret@h/home')).toThrow(/percent-encoded/)
  expect(locationOf('postgres://me:s3@cret@h/home')).toBe('postgres://h/home')
  expect(nameOf('postgres://me:s3@cr:e/t@h/home?x=1')).toBe('postgres://me@h/home')
})

test.each([
  '@a:5432,b:5433/home?pool_max=20&sslmode=verify-full&application_name=node',
  '@/home?host=/run/postgresql&port=5433&pool_max=20',
  '@%2Frun%2Fpostgresql/home?options=-c%20search_path%3Dhomes&pool_max=20',
])('%s is taken as it is', (rest) => {
  expect(open(rest)().option('pool_max')).toBe('20')
})

test('the guide names every parameter', () => {
  const guide = readDocument('docs/postgresql.md')
  for (const name of PARAMETERS) expect(guide).toMatch(new RegExp(`[\`?&]${name}[\`=]`))
})
