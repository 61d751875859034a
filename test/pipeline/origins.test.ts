/** Whose name is whose: what DNS can be made to say, and what it cannot. */
import { describe, expect, test } from 'vitest'
import { isOwnHost, isOwnOrigin } from '../../src/pipeline/origins.ts'

const policy = { listener: '127.0.0.1', allowed: [] }
const named = { ...policy, publicUrl: 'https://home.example' }

const LOCAL = [
  'localhost',
  'localhost:8787',
  '127.0.0.1:1',
  '192.0.2.7:8787',
  '[::1]:8787',
  '[::1]',
]
const FOREIGN = [
  'evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example:8787',
  'home',
  '',
]

describe('a host', () => {
  test.each(LOCAL)('"%s" is our own, whatever name people use', (host) => {
    expect([isOwnHost(host, policy), isOwnHost(host, named)]).toEqual([true, true])
  })

  test.each(FOREIGN)('"%s" is nobody’s own', (host) => {
    expect([isOwnHost(host, policy), isOwnHost(host, named)]).toEqual([false, false])
  })

  test('is our own by the name that people use, port and all, where it is set', () => {
    expect(isOwnHost('home.example', named)).toBe(true)
    expect(isOwnHost('home.example:8443', named)).toBe(false)
    expect(isOwnHost('home.example', policy)).toBe(false)
  })

  test('is our own by the name that we listen on', () => {
    expect(isOwnHost('shelf.lan:8787', { ...policy, listener: 'shelf.lan' })).toBe(true)
  })
})

describe('an origin', () => {
  test.each(LOCAL)('is our own where "%s" was asked and it names the same', (host) => {
    const origin = `http://${host}`
    expect([isOwnOrigin(origin, host, policy), isOwnOrigin(origin, host, named)]).toEqual([
      true,
      true,
    ])
  })

  test.each([
    ['http://localhost:8787', 'localhost:8788'],
    ['https://localhost:8787', 'localhost:8787'],
    ['http://127.0.0.1:8787', 'localhost:8787'],
    ['null', 'localhost'],
    ['', 'localhost'],
  ])('"%s" is not, where "%s" was asked', (origin, host) => {
    expect(isOwnOrigin(origin, host, policy)).toBe(false)
  })

  test.each(FOREIGN)('is nobody’s own where "%s" was asked, though it names the same', (host) => {
    expect(isOwnOrigin(`http://${host}`, host, policy)).toBe(false)
    expect(isOwnOrigin(`http://${host}`, host, named)).toBe(false)
  })

  test('is our own as the address that people use has it, through whatever host', () => {
    for (const host of ['home.example', 'app:8787', 'localhost'])
      expect(isOwnOrigin('https://home.example', host, named)).toBe(true)
  })

  test('without the scheme of the address that people use is not', () => {
    expect(isOwnOrigin('http://home.example', 'home.example', named)).toBe(false)
    const address = { ...policy, publicUrl: 'https://192.0.2.7' }
    expect(isOwnOrigin('http://192.0.2.7', '192.0.2.7', address)).toBe(false)
  })
})
