import { describe, expect, test } from 'vitest'
import { targetOf } from '../../src/http/target.ts'

describe('what a request asks for', () => {
  test.each([
    ['home.test', '/', '/', ''],
    ['home.test:8787', '/api/agents/me?key=a&b=%20', '/api/agents/me', 'key=a&b=%20'],
    ['127.0.0.1', '/a?b?c', '/a', 'b?c'],
    ['home.test', '/a/../b', '/b', ''],
    ['home.test', '/a/./b?../c', '/a/b', '../c'],
    ['home.test', '/a/..', '/', ''],
    ['home.test', '/[?http://other.test/b', '/[', 'http://other.test/b'],
    ['home.test', '/a#b?c', '/a', ''],
    ['home.test', '/%2e%2e/b', '/%2e%2e/b', ''],
    ['home.test', '//elsewhere/b', '//elsewhere/b', ''],
  ])('%s %s', (host, target, path, search) => {
    expect(targetOf(host, target)).toEqual({ host, path, search })
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
  ])('%j %s makes no address', (host, target) => {
    expect(targetOf(host, target)).toBeUndefined()
  })
})
