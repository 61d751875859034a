import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createPasswords, refuseCommonPassword } from '../../src/home/passwords.ts'

const passwords = createPasswords(randomBytes)

test('a password is kept as argon2id with a salt of its own, and compared as received', async () => {
  const [one, other] = [
    await passwords.hash('pä ssword 🗝 x'),
    await passwords.hash('pä ssword 🗝 x'),
  ]
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(other).not.toBe(one)
  expect(await passwords.verify('pä ssword 🗝 x', one)).toBe(true)
  for (const wrong of ['pä ssword 🗝 X', 'pä ssword 🗝 x ', 'pa\u0308 ssword 🗝 x', '']) {
    expect(await passwords.verify(wrong, one)).toBe(false)
  }
})

test('two are computed at once; one more is told to come again, and then there is room', async () => {
  const running = [passwords.hash('correct horse battery'), passwords.hash('correct horse battery')]
  await expect(passwords.hash('correct horse battery')).rejects.toMatchObject({
    code: 'passwords_busy',
  })
  await Promise.all(running)
  expect(await passwords.hash('correct horse battery')).toMatch(/^\$argon2id/)
})

test('of the most common passwords none is taken, whatever its case', () => {
  for (const common of ['password1234', 'PassWord1234', 'qwertyuiop123', 'zzzzzzzzzzzzzz']) {
    expect(() => refuseCommonPassword(common)).toThrow(expect.objectContaining({ status: 400 }))
  }
  refuseCommonPassword('correct horse battery')
})
