/** The agent home: its endpoints, each in the file of its resource. */
import { birth } from './birth.ts'
import type { HomeEndpoint } from './endpoint.ts'
import { exportMemories } from './export.ts'
import { rotateKey } from './keys.ts'
import { readMemory, writeMemory } from './memory.ts'
import { preview } from './preview.ts'
import { readProfile, setStatus } from './profile.ts'

export const homeEndpoints: readonly HomeEndpoint[] = [
  preview,
  birth,
  readProfile,
  setStatus,
  readMemory,
  writeMemory,
  exportMemories,
  rotateKey,
]
