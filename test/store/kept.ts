/** A version as an import brings it. */
import type { KeptVersion } from '../../src/store/port/transfer.ts'
import { NOON } from './fixture.ts'

/** Without a text, it is a deletion. */
export const kept = (key: string, version: number, text: string | undefined): KeptVersion => ({
  ...{ key, version, id: '019a9c5f-1a00-7c11-9d00-6c2f1b3c4d5e' },
  operation: text === undefined ? 'delete' : 'write',
  by: { as: 'agent', via: 'mcp' },
  ...{ createdAt: NOON - 9, updatedAt: NOON - 9 + version },
  content: text === undefined ? undefined : { text, metadata: '{}' },
})
