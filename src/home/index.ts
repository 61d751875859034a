/** The agent home: its endpoints, each in the file of its resource. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { birth } from './birth.ts'
import { exportMemories } from './export.ts'
import type { Home } from './home.ts'
import { rotateKey } from './keys.ts'
import { readMemory, writeMemory } from './memory.ts'
import { preview } from './preview.ts'
import { readProfile, setStatus } from './profile.ts'

export const homeEndpoints: readonly Endpoint<Home>[] = [
  preview,
  birth,
  readProfile,
  setStatus,
  readMemory,
  writeMemory,
  exportMemories,
  rotateKey,
]
