/** Whose forms are ours, by what browsers say of them. */
import { describe, expect, test } from 'vitest'
import { beginCall } from '../../src/http/call.ts'
import { sameSite } from '../../src/pipeline/guards/origin.ts'
import { originPolicy } from '../../src/pipeline/origins.ts'
import { incomingOf } from '../harness.ts'

type Headers = Readonly<Record<string, string>>

const origins = originPolicy({ listener: '127.0.0.1', allowed: ['https://app.example'] })

const pass = (headers: Headers, host = '127.0.0.1:8787') => {
  const incoming = incomingOf('POST', '/console', { headers })
  return () => sameSite.run({ call: beginCall('r1', { ...incoming, host }, {}) }, { origins })
}

const OURS = 'http://127.0.0.1:8787'
const EVIL = 'http://evil.example'

const ours: [string, Headers][] = [
  ['a program', {}],
  ['our page', { origin: OURS, 'sec-fetch-site': 'same-origin' }],
  ['our page, in an older browser', { origin: OURS }],
  [
    'our page, which keeps to itself where it is',
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ],
  ['the address bar', { 'sec-fetch-site': 'none' }],
]

const others: [string, Headers][] = [
  ['another site', { origin: EVIL, 'sec-fetch-site': 'cross-site' }],
  [
    'another site that keeps to itself where it is',
    { origin: 'null', 'sec-fetch-site': 'cross-site' },
  ],
  ['a neighbour', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
  ['a neighbour that claims our origin', { origin: OURS, 'sec-fetch-site': 'same-site' }],
  ['another site, in an older browser', { origin: EVIL }],
  ['nowhere, in an older browser', { origin: 'null' }],
  [
    'a listed origin: programs may ask from there, forms may not',
    { origin: 'https://app.example' },
  ],
  ['another site that claims to be ours', { origin: EVIL, 'sec-fetch-site': 'same-origin' }],
]

describe('a form', () => {
  test.each(ours)('from %s passes', (_, headers) => {
    expect(pass(headers)).not.toThrow()
  })

  test.each(others)('from %s is denied, with what to do', (_, headers) => {
    expect(pass(headers)).toThrow(
      expect.objectContaining({
        code: 'origin_denied',
        extras: { detail: expect.stringMatching(/own page.*PUBLIC_URL/) },
      }),
    )
  })

  test.each([
    { origin: EVIL },
    { origin: EVIL, 'sec-fetch-site': 'same-origin' },
    { origin: 'null', 'sec-fetch-site': 'same-origin' },
  ])('from a page whose name was made to lead here is denied (%o)', (headers) => {
    expect(pass(headers, 'evil.example')).toThrow(
      expect.objectContaining({ code: 'origin_denied' }),
    )
  })
})
