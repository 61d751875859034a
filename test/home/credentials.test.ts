import { createHash, hkdfSync } from 'node:crypto'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveTokens, fingerprint, hashIdempotencyKey } from '../../src/home/birth-key.ts'
import { hashToken, isWellFormedToken, tokenFrom, tokenMark } from '../../src/pipeline/tokens.ts'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const kind = fc.constantFrom('agent', 'operator')
const hex64 = fc.stringMatching(/^[0-9a-f]{64}$/)

/** The number that base62 digits stand for. */
const numberOf = (digits: string): bigint =>
  [...digits].reduce((sum, digit) => sum * 62n + BigInt(ALPHABET.indexOf(digit)), 0n)

describe('a token', () => {
  test('is its prefix, its 32 bytes in base62 and the CRC-32 of what stands before', () => {
    fc.assert(
      fc.property(kind, secret, (whose, bytes) => {
        const token = tokenFrom(whose, bytes)
        const prefix = whose === 'agent' ? 'aha_' : 'aho_'
        expect(token).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`))
        expect(numberOf(token.slice(4, 47))).toBe(BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
        expect(numberOf(token.slice(47))).toBe(BigInt(crc32(token.slice(0, 47))))
        expect(isWellFormedToken(token)).toBe(true)
      }),
    )
  })

  test('with any one character changed is seen to be none without a look-up', () => {
    const position = fc.nat(52)
    const replacement = fc.constantFrom(...ALPHABET, '_', '-', ' ', 'é')
    fc.assert(
      fc.property(kind, secret, position, replacement, (whose, bytes, at, character) => {
        const token = tokenFrom(whose, bytes)
        const changed = token.slice(0, at) + character + token.slice(at + 1)
        expect(isWellFormedToken(changed)).toBe(changed === token)
      }),
      { numRuns: 2_000 },
    )
  })

  test.each(['', 'aha_', 'aha_example', 'Bearer', '\n', 'aha_'.repeat(2_000)])(
    'is not %j',
    (text) => {
      expect(isWellFormedToken(text)).toBe(false)
    },
  )

  test('is stored as its SHA-256', () => {
    expect(hashToken('aha_x')).toBe(createHash('sha256').update('aha_x').digest('hex'))
  })

  test('is named in logs by the first 8 digits of that, which open nothing', () => {
    expect(tokenMark('0123456789abcdef'.repeat(4))).toBe('01234567')
  })
})

describe('the tokens of a birth', () => {
  const key = 'ab'.repeat(32)
  const salt = 'cd'.repeat(32)

  test('are derived by HKDF-SHA256, the same each time and each with its own label', () => {
    const { token, operatorToken } = deriveTokens(key, salt)
    const derived = hkdfSync(
      'sha256',
      Buffer.from(key, 'hex'),
      Buffer.from(salt, 'hex'),
      'agent-home agent token',
      32,
    )
    expect(token).toBe(tokenFrom('agent', new Uint8Array(derived)))
    expect(deriveTokens(key, salt)).toEqual({ token, operatorToken })
    expect(operatorToken.slice(4)).not.toBe(token.slice(4))
  })

  test('are those that another implementation derives, in this version and the next', () => {
    expect(deriveTokens(key, salt)).toEqual({
      token: 'aha_8lhNVlFpkk9Hnid6K8jHwgxAj4cgEZdmihgKGbC5YFq0LnH1G',
      operatorToken: 'aho_R4ezn7Zu7auaRusOBFU7zT5FHbfpBxjN2GdW2mGPnYP0sfUbD',
    })
  })

  test('differ with the key and with the salt', () => {
    fc.assert(
      fc.property(hex64, hex64, (otherKey, otherSalt) => {
        fc.pre(otherKey !== key && otherSalt !== salt)
        const { token } = deriveTokens(key, salt)
        expect(deriveTokens(otherKey, salt).token).not.toBe(token)
        expect(deriveTokens(key, otherSalt).token).not.toBe(token)
      }),
    )
  })
})

test('a body’s fingerprint cannot be computed without the key', () => {
  const [key, salt, body] = ['ab'.repeat(32), 'cd'.repeat(32), '["Atlas"]']
  const print = fingerprint(key, salt, body)
  expect(print).toMatch(/^[0-9a-f]{64}$/)
  expect(fingerprint(key, salt, body)).toBe(print)
  expect(fingerprint('ef'.repeat(32), salt, body)).not.toBe(print)
  expect(fingerprint(key, 'ef'.repeat(32), body)).not.toBe(print)
  expect(fingerprint(key, salt, '["Other"]')).not.toBe(print)
})

test('what is stored of a birth is what earlier versions stored of it', () => {
  const [key, salt] = ['ab'.repeat(32), 'cd'.repeat(32)]
  expect([fingerprint(key, salt, '["Atlas"]'), hashIdempotencyKey(key)]).toEqual([
    'f5abc029e39518e80678f6c4a4cd97dd0352d483275e8a034a954f17f7253777',
    '84044dee198f47bbb40cf8fa6b8b68bfeb38d13c7d6f663e7e37d22b2a3aa7fe',
  ])
})

test('an Idempotency-Key is stored as the hash of it under a label', () => {
  const key = 'ab'.repeat(32)
  expect(hashIdempotencyKey(key)).toMatch(/^[0-9a-f]{64}$/)
  expect(hashIdempotencyKey(key)).not.toBe(createHash('sha256').update(key).digest('hex'))
})
