/** Whose name is whose: what DNS can be made to say, and what it cannot. */
import { describe, expect, test, vi } from 'vitest'
import { originPolicy } from '../../src/pipeline/origins.ts'

const own = { listener: '127.0.0.1', allowed: [] }
const policy = originPolicy(own)
const named = originPolicy({ ...own, publicUrl: 'https://home.example' })

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
    expect([policy.isOwnHost(host), named.isOwnHost(host)]).toEqual([true, true])
  })

  test.each(FOREIGN)('"%s" is nobody’s own', (host) => {
    expect([policy.isOwnHost(host), named.isOwnHost(host)]).toEqual([false, false])
  })

  test('is our own by the name that people use, port and all, where it is set', () => {
    expect(named.isOwnHost('home.example')).toBe(true)
    expect(named.isOwnHost('home.example:8443')).toBe(false)
    expect(policy.isOwnHost('home.example')).toBe(false)
  })

  test('is our own by the name that we listen on', () => {
    expect(originPolicy({ ...own, listener: 'shelf.lan' }).isOwnHost('shelf.lan:8787')).toBe(true)
  })
})

test('what people use is read once, not with each request', () => {
  const parse = vi.spyOn(URL, 'parse')
  try {
    const { isOwnOrigin } = originPolicy({ ...own, publicUrl: 'https://home.example' })
    for (let n = 0; n < 3; n++) isOwnOrigin('https://home.example', 'home.example')
    expect(parse).toHaveBeenCalledTimes(1)
  } finally {
    parse.mockRestore()
  }
})

describe('an origin', () => {
  test.each(LOCAL)('is our own where "%s" was asked and it names the same', (host) => {
    const origin = `http://${host}`
    expect([policy.isOwnOrigin(origin, host), named.isOwnOrigin(origin, host)]).toEqual([
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
    expect(policy.isOwnOrigin(origin, host)).toBe(false)
  })

  test.each(FOREIGN)('is nobody’s own where "%s" was asked, though it names the same', (host) => {
    expect(policy.isOwnOrigin(`http://${host}`, host)).toBe(false)
    expect(named.isOwnOrigin(`http://${host}`, host)).toBe(false)
  })

  test('is our own as the address that people use has it, through whatever host', () => {
    for (const host of ['home.example', 'app:8787', 'localhost'])
      expect(named.isOwnOrigin('https://home.example', host)).toBe(true)
  })

  test('without the scheme of the address that people use is not', () => {
    expect(named.isOwnOrigin('http://home.example', 'home.example')).toBe(false)
    const address = originPolicy({ ...own, publicUrl: 'https://192.0.2.7' })
    expect(address.isOwnOrigin('http://192.0.2.7', '192.0.2.7')).toBe(false)
  })
})
