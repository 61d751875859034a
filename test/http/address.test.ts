/** Whom a request is counted against. */
import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import { clientKey, neighbourhood, networkOf, peerIsListed } from '../../src/http/address.ts'
import { beginCall, type Call } from '../../src/http/call.ts'
import { incomingOf } from '../harness.ts'

const proxies = new BlockList()
proxies.addSubnet('10.0.0.0', 8, 'ipv4')
proxies.addSubnet('2001:db8:aaaa::', 48, 'ipv6')

const callFrom = (from: string, headers: Readonly<Record<string, string>> = {}): Call =>
  beginCall('r1', incomingOf('GET', '/', { from, headers }), {})

function countedAs(from: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return clientKey(callFrom(from, headers), proxies)
}

describe('a client', () => {
  test('is its IPv4 address, also in IPv6 clothes', () => {
    expect(countedAs('192.0.2.1')).toBe('192.0.2.1')
    expect(countedAs('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(countedAs('::FFFF:192.0.2.1')).toBe('192.0.2.1')
  })

  test.each([
    ['2001:db8:0:1:2:3:4:5', '2001:db8:0:1::/64'],
    ['2001:0DB8::1:0:0:0:2', '2001:db8:0:1::/64'],
    ['2001:db8::2', '2001:db8:0:0::/64'],
    ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
    ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1::ffff:192.0.2.1', '1:0:0:0::/64'],
  ])('at %s is counted as %s', (from, key) => {
    expect(countedAs(from)).toBe(key)
  })

  test('is the same on every interface of ours', () => {
    expect(countedAs('fe80::1:2:3:4%eth0')).toBe('fe80:0:0:0::/64')
    expect(countedAs('fe80:0:0:1::%lo')).toBe('fe80:0:0:1::/64')
    expect(countedAs('fe80:1:2:3:4:5:6:7%a::b')).toBe('fe80:1:2:3::/64')
  })

  test('in one network is not taken for one in another that is spelled alike', () => {
    expect(countedAs('1:23:4:5::1')).not.toBe(countedAs('12:3:4:5::1'))
  })
})

test.each([
  ['2001:db8:0:1:2:3:4:5', '2001:db8:0:'],
  ['2001:db8::2', '2001:db8:0:'],
  ['::1', '0:0:0:'],
  ['192.0.2.1', undefined],
  ['::ffff:192.0.2.1', undefined],
  ['no address', undefined],
])('the network of %s begins with %s', (from, network) => {
  expect(networkOf(countedAs(from))).toBe(network)
})

describe('behind a listed proxy a client', () => {
  test.each([
    ['10.0.0.1', '192.0.2.1'],
    ['::ffff:10.0.0.1', '192.0.2.1'],
    ['2001:db8:aaaa::1', '192.0.2.1'],
    ['10.0.0.1', '  192.0.2.1 '],
    ['10.0.0.1', '::ffff:192.0.2.1'],
    ['10.0.0.1', '198.51.100.7, 192.0.2.1'],
    ['10.0.0.1', '198.51.100.7,192.0.2.1,10.0.0.9'],
    ['10.0.0.1', '192.0.2.1, 2001:db8:aaaa::2, 10.0.0.9'],
  ])('is the last that no proxy of ours is: %s says "%s"', (from, forwarded) => {
    expect(countedAs(from, forwarded)).toBe('192.0.2.1')
  })

  test.each(['unknown', '', ' ', '192.0.2.1:443', '"192.0.2.1"', '192.0.2.1, _hidden'])(
    'that the proxy does not name is the proxy: "%s"',
    (forwarded) => {
      expect(countedAs('10.0.0.1', forwarded)).toBe('10.0.0.1')
    },
  )

  test('that is one of ours itself is the farthest that is known', () => {
    expect(countedAs('10.0.0.1', '10.0.0.7, 10.0.0.2')).toBe('10.0.0.7')
    expect(countedAs('10.0.0.1')).toBe('10.0.0.1')
  })
})

test('whoever is no listed proxy speaks for itself alone', () => {
  expect(countedAs('203.0.113.5', '192.0.2.1')).toBe('203.0.113.5')
  expect(countedAs('2001:db8:bbbb::1', '192.0.2.1')).toBe('2001:db8:bbbb:0::/64')
  expect(countedAs('no address', '192.0.2.1')).toBe('no address')
})

test.each([
  ['10.0.0.1', true],
  ['::ffff:10.0.0.1', true],
  ['2001:db8:aaaa::1', true],
  ['192.0.2.1', false],
  ['2001:db8:bbbb::1', false],
  ['10.0.0.1 ', false],
  ['', false],
])('of "%s" it is known whether it is listed: %s', (from, isListed) => {
  expect(peerIsListed(proxies, callFrom(from))).toBe(isListed)
})

test.each([
  ['192.0.2.17', undefined, '192.0.2.x'],
  ['::ffff:192.0.2.17', undefined, '192.0.2.x'],
  ['2001:db8:7:1:2:3:4:5', undefined, '2001:db8:7:x'],
  ['10.0.0.1', '198.51.100.9', '198.51.100.x'],
  ['no address', undefined, ''],
])('for people %s, forwarded for %s, is at %s', (from, forwarded, place) => {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  expect(neighbourhood(callFrom(from, headers), proxies)).toBe(place)
})
