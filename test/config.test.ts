import { expect, test } from 'vitest'
import { loadConfig } from '../src/config.ts'
import { loadClientConfig } from '../src/environment.ts'

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

test('a command is told what the address of its home must be; what is empty is not set', () => {
  for (const AGENT_HOME_URL of ['home.example', 'ftp://home.example'])
    expect(() => loadClientConfig({ AGENT_HOME_URL })).toThrow(/AGENT_HOME_URL: must be the http/)
  expect(loadClientConfig({ AGENT_HOME_URL: '', AGENT_HOME_TOKEN: 'aha_x', PORT: '1' })).toEqual({
    AGENT_HOME_TOKEN: 'aha_x',
  })
})
