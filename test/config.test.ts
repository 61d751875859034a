import { expect, test } from 'vitest'
import { loadConfig } from '../src/config.ts'

const TERABYTE = 1_000_000_000_000

test.each(['EXPORT_BYTES', 'FEED_BYTES', 'DISK_RESERVE'] as const)(
  '%s may be as much as a disk holds',
  (name) => {
    expect(loadConfig({ [name]: `${TERABYTE}` })[name]).toBe(TERABYTE)
  },
)

test.each(['security@example.org', 'http://example.org', 'mailto:a@example.org\nExpires: never'])(
  'SECURITY_CONTACT is not %j',
  (contact) => {
    expect(() => loadConfig({ SECURITY_CONTACT: contact })).toThrow(/SECURITY_CONTACT: must be/)
  },
)

test.each(['1.2.3.4/33', '1.2.3.4/-1', '1.2.3.4/a', '::/129', '1.2.3', 'next-door'])(
  '%j is no trusted proxy, and is named',
  (range) => {
    const named = `TRUSTED_PROXIES: "${range}" is not an IP address or CIDR range`
    expect(() => loadConfig({ TRUSTED_PROXIES: `::1, ${range}` })).toThrow(named)
  },
)

test('a trusted proxy is an address, or all of a range', () => {
  const { TRUSTED_PROXIES: trusted } = loadConfig({ TRUSTED_PROXIES: '::1, fd00::/8, 10.1.0.0/16' })
  expect(trusted.rules.toSorted()).toEqual([
    'Subnet: IPv4 10.1.0.0/16',
    'Subnet: IPv6 ::1/128',
    'Subnet: IPv6 fd00::/8',
  ])
})
