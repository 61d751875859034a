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
