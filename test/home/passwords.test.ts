import { argon2Sync, randomBytes } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPasswords, decoyHash } from '../../src/home/passwords.ts'

const made = createPasswords(randomBytes)
const attempt = { client: '192.0.2.1', email: 'ada@example.org', trusted: false }
const passwords = {
  hash: (password: string) => made.hash(password, attempt),
  verify: (password: string, hash: string) => made.verify(password, hash, attempt),
}

test('a password is kept as argon2id with a salt of its own, and compared as received', async () => {
  const [one, other] = [
    await passwords.hash('pä ssword 🗝 x'),
    await passwords.hash('pä ssword 🗝 x'),
  ]
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(other).not.toBe(one)
  const costOf = (hash: string) => hash.split('$').slice(0, 4)
  expect(costOf(decoyHash)).toEqual(costOf(one))
  expect(await passwords.verify('pä ssword 🗝 x', one)).toBe(true)
  for (const wrong of ['pä ssword 🗝 X', 'pä ssword 🗝 x ', 'pa ssword 🗝 x', '']) {
    expect(await passwords.verify(wrong, one)).toBe(false)
  }
})

const COMPOSED = 'p\u00e4 ss\u1e69word x'
const DECOMPOSED = 'pa\u0308 sss\u0323\u0307word x'
const MIXED = 'p\u00e4 sss\u0307\u0323word x'

test('one password is one, however its letters are composed', async () => {
  for (const chosen of [COMPOSED, DECOMPOSED, MIXED]) {
    const stored = await passwords.hash(chosen)
    for (const typed of [COMPOSED, DECOMPOSED, MIXED]) {
      expect(await passwords.verify(typed, stored)).toBe(true)
    }
    expect(await passwords.verify(`${chosen}\u0323`, stored)).toBe(false)
  }
})

/** As version 1.0.0 hashed a password: as it was received. */
function hashedAsReceived(password: string): string {
  const nonce = Buffer.alloc(16, 7)
  const cost = { memory: 96, passes: 1, parallelism: 1, tagLength: 24 }
  const tag = argon2Sync('argon2id', { message: password, nonce, ...cost })
  const [salt, hash] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
  return `$argon2id$v=19$m=96,t=1,p=1$${salt}$${hash}`
}

test('a password that was hashed as it was received still matches, however it is composed now', async () => {
  for (const chosen of [COMPOSED, DECOMPOSED]) {
    for (const typed of [COMPOSED, DECOMPOSED]) {
      expect(await passwords.verify(typed, hashedAsReceived(chosen))).toBe(true)
    }
  }
  expect(await passwords.verify(MIXED, hashedAsReceived(MIXED))).toBe(true)
})

test('a password that is longer than any may be is not taken apart, and matches nothing', async () => {
  // Putting that many marks in order takes a second and more.
  const marks = `a${'\u0301\u0323'.repeat(30_000)}`
  const normalize = vi.spyOn(String.prototype, 'normalize')
  onTestFinished(() => normalize.mockRestore())
  expect(await passwords.verify(COMPOSED, hashedAsReceived(COMPOSED))).toBe(true)
  expect(normalize.mock.contexts.map(String)).toContain(COMPOSED)
  expect(await passwords.verify(marks, hashedAsReceived(COMPOSED))).toBe(false)
  expect(normalize.mock.contexts.map(String)).not.toContain(marks)
})

test('of one client and account four are computed or wait; one more is told to come again', async () => {
  const running = Array.from({ length: 4 }, () => passwords.hash('correct horse battery'))
  await expect(passwords.hash('correct horse battery')).rejects.toMatchObject({
    code: 'passwords_busy',
  })
  const elsewhere = made.hash('correct horse battery', { ...attempt, client: '192.0.2.2' })
  const forAnother = made.hash('correct horse battery', { ...attempt, email: 'bo@example.org' })
  await Promise.all([...running, elsewhere, forAnother])
  expect(await passwords.hash('correct horse battery')).toMatch(/^\$argon2id/)
})

test('a hash of another cost is compared at that cost', async () => {
  const nonce = Buffer.alloc(16, 7)
  const cost = { memory: 96, passes: 10, parallelism: 12, tagLength: 24 }
  const tag = argon2Sync('argon2id', { message: 'correct horse battery', nonce, ...cost })
  const salt = nonce.toString('base64').replaceAll('=', '')
  const stored = `$argon2id$v=19$m=96,t=10,p=12$${salt}$${tag.toString('base64')}`
  expect(await passwords.verify('correct horse battery', stored)).toBe(true)
  expect(await passwords.verify('another horse battery', stored)).toBe(false)
})

test('what is no hash of ours is a mistake of ours, and no password matches it', async () => {
  const stored = await passwords.hash('correct horse battery')
  for (const wrong of [
    '',
    'nonsense',
    `x${stored}`,
    `${stored}$x`,
    stored.replace('=19$m', '$m'),
  ]) {
    await expect(passwords.verify('correct horse battery', wrong)).rejects.toThrow()
  }
})
