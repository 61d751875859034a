import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { targetOf } from '../../src/http/target.ts'

describe('what a request asks for', () => {
  test.each([
    ['home.test', '/', '/', ''],
    ['home.test:8787', '/api/agents/me?key=a&b=%20', '/api/agents/me', 'key=a&b=%20'],
    ['127.0.0.1', '/a?b?c', '/a', 'b?c'],
    ['home.test', '/[?http://other.test/b', '/[', 'http://other.test/b'],
    ['home.test', '/%2e%2e/b', '/%2e%2e/b', ''],
    ['home.test', '//elsewhere/b', '//elsewhere/b', ''],
  ])('%s %s', (host, target, path, search) => {
    expect(targetOf(host, target)).toEqual({ host, path, search })
  })

  test('whatever is sent, the path that is routed is the one that a proxy sees', () => {
    const piece = fc.constantFrom(
      'api',
      '/',
      '\\\\',
      '.',
      '..',
      '%2e',
      '%5c',
      '%2F',
      ';',
      '#',
      '\u00e9',
      ' ',
      'a',
    )
    const targets = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join('')}`)
    const whole = fc.boolean()
    fc.assert(
      fc.property(targets, whole, (target, isWhole) => {
        const found = targetOf('home.test', isWhole ? `http://home.test${target}` : target)
        return found === undefined || found.path === target
      }),
      { seed: 46, numRuns: 5_000 },
    )
  })

  test('the host is spelt as addresses spell it, and an address in the line names its own', () => {
    for (const host of ['Home.Test', 'home.test:80', 'home.test:0080', 'home.test:']) {
      expect(targetOf(host, '/a')?.host).toBe('home.test')
    }
    for (const host of ['home.test:8080', 'home.test:08080', 'home.test:808', 'home.test:59999']) {
      expect(targetOf(host, '/a')?.host).toBe(host.replace(':0', ':'))
    }
    expect(targetOf('home.test', 'http://other.test/a?b')).toEqual({
      host: 'other.test',
      path: '/a',
      search: 'b',
    })
    expect(targetOf('[::1]:8787', '/a')?.host).toBe('[::1]:8787')
  })

  test.each([
    [undefined, '/'],
    ['', '/'],
    ['a b', '/'],
    ['a/b', '/'],
    ['a?b', '/'],
    ['a@b', '/'],
    ['a:b@c', '/'],
    ['a, b', '/'],
    ['a:99999', '/'],
    ['a:b', '/'],
    ['a:1bcde', '/'],
    ['home.test', '*'],
    ['home.test', 'home.test:443'],
    ['home.test', 'ftp://home.test/a'],
    ['home.test', '/a/../b'],
    ['home.test', '/a/./b?../c'],
    ['home.test', '/a/..'],
    ['home.test', '/x/../api/agents/birth'],
    ['home.test', '/api/agents\\birth'],
    ['home.test', '/api\\..\\b'],
    ['home.test', '/x"/%2e%2e/b'],
    ['home.test', '/a#b?c'],
    ['home.test', '/\u00e9'],
    ['home.test', 'http://home.test/x/../api/agents/birth'],
    ['home.test', 'http://home.test\\api/agents/birth'],
  ])('%j %s makes no address', (host, target) => {
    expect(targetOf(host, target)).toBeUndefined()
  })
})
