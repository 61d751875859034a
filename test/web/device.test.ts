/** Browsers by the names that people know. */
import { expect, test } from 'vitest'
import { deviceOf, placeOf } from '../../src/web/layout/device.ts'

const MOZILLA = 'Mozilla/5.0'
const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'

test.each([
  [`${MOZILLA} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox on Linux'],
  [`${MOZILLA} (Windows NT 10.0) ${WEBKIT} Chrome/140.0 Safari/537.36`, 'Chrome on Windows'],
  [
    `${MOZILLA} (Windows NT 10.0) ${WEBKIT} Chrome/140.0 Safari/537.36 Edg/140.0`,
    'Edge on Windows',
  ],
  [`${MOZILLA} (Linux; Android 16) ${WEBKIT} Chrome/140.0 Mobile Safari/5`, 'Chrome on Android'],
  [`${MOZILLA} (X11; CrOS x86_64) ${WEBKIT} Chrome/140.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [`${MOZILLA} (Macintosh; Intel Mac OS X) AppleWebKit Version/26 Safari/6`, 'Safari on a Mac'],
  [`${MOZILLA} (iPhone; CPU OS 26 like Mac OS X) Version/26 Safari/6`, 'Safari on an iPhone'],
  ['curl/8.5', 'curl/8.5'],
  ['(nothing)', 'A browser'],
  ['', 'A browser'],
])('%j is told as %j', (userAgent, told) => {
  expect(deviceOf(userAgent)).toBe(told)
})

test('a place that is not known is not told, and the own machine is named', () => {
  expect(['', '192.0.2.x', '127.0.0.x'].map(placeOf)).toEqual([
    '',
    ', from 192.0.2.x',
    ', from the service’s own machine',
  ])
})
