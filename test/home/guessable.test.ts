/** Passwords that a guesser tries first. */
import { describe, expect, test } from 'vitest'
import { whyGuessable } from '../../src/home/guessable.ts'

const EMAIL = 'ada.lovelace@example.org'

describe('nobody may choose', () => {
  test.each([
    'password1234',
    'PassWord1234',
    'Password123!',
    'P@ssw0rd2026!!',
    '!!!Pa$$w0rd!!!',
    '  password  12',
    'ｐａｓｓｗｏｒｄ1234',
    'Qwertyuiop!!',
    'letmein 2026 ?',
    'Administrator!',
    'iloveyou.12345',
    'AA1234567890',
    'Abc.99887766',
    'zzzzzzzzzzzzzz',
    '456789012345678',
    '876543210987',
  ])('one of the most common: %s', (password) => {
    expect(whyGuessable(password, EMAIL)).toMatch(/most common/)
  })

  test.each([
    'M1necraft 2026',
    'M!necraft 2026',
    'L3tm3in 2026!',
    'noPa5sword 12',
    'le7mein 2026!',
    'M@nchester 12',
  ])('one of them with a sign in the place of a letter: %s', (password) => {
    expect(whyGuessable(password, EMAIL)).toMatch(/most common/)
  })

  test.each([
    'ada.lovelace@example.org',
    'Ada.Lovelace@Example.org!1',
    'ada.lovelace',
    'AdaLovelace1815',
    'ada-lovelace!!',
    'Ad4.l0velace77',
  ])('the own e-mail address, or its name: %s', (password) => {
    expect(whyGuessable(password, EMAIL)).toMatch(/e-mail address/)
  })

  test('a name of digits alone', () => {
    expect(whyGuessable('380501234567', '380501234567@example.org')).toMatch(/e-mail address/)
    expect(whyGuessable('380501234567', '380501234568@example.org')).toBeUndefined()
  })

  test('a name of three letters with anything beside it, and one of two as it is', () => {
    expect(whyGuessable('Ada.99887766', 'ada@example.org')).toMatch(/e-mail address/)
    expect(whyGuessable('Al9477123344', 'al9477123344@example.org')).toMatch(/e-mail address/)
  })

  test.each(['agent home 12', 'Agent-Home-2026', 'AgentHome!!!', 'resonance1234'])(
    'the name of the service: %s',
    (password) => {
      expect(whyGuessable(password, EMAIL)).toMatch(/name of this service/)
    },
  )
})

test.each([
  'correct horse battery',
  'correct horse battery staple',
  'my password is long',
  'Пароль — з пробілами 🦔',
  '839201748291',
  'p?p?p?p?p?p?',
  'ada lovelace and babbage',
  'al94-77-12!33',
  'home of the agents',
])('anybody may choose "%s"', (password) => {
  expect(whyGuessable(password, EMAIL)).toBeUndefined()
  expect(whyGuessable(password, 'al@example.org')).toBeUndefined()
})
