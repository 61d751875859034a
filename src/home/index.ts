/** The agent home: its endpoints, each in the file of its resource. */
import type { Endpoint } from '../pipeline/endpoint.ts'
import { birth } from './birth.ts'
import { readContext, readContextAbout } from './context/context.ts'
import { followEvents } from './event-stream.ts'
import { listEvents } from './events.ts'
import { exportMemories } from './export.ts'
import { readHead } from './head.ts'
import type { Home } from './home.ts'
import { importMemories } from './import/import.ts'
import { createKey, endKey, listKeys, rotateKey } from './keys.ts'
import { changeMemories } from './memories/batch.ts'
import { listMemories } from './memories/list.ts'
import { readMemory, writeMemory } from './memories/memory.ts'
import { eraseMemory, protectMemory } from './memories/operator.ts'
import { searchByVector, searchMemories } from './memories/search.ts'
import { storeVectors } from './memories/vectors.ts'
import {
  appendToMemory,
  deleteMemory,
  editMemory,
  patchMemory,
  restoreMemory,
} from './memories/verbs.ts'
import { listVersions } from './memories/versions.ts'
import { replaceOperatorKey } from './operator-key.ts'
import { preview } from './preview.ts'
import { changeProfile, eraseAgent, readProfile, setStatus } from './profile.ts'
import { rollBack } from './rollback.ts'

export const homeEndpoints: readonly Endpoint<Home>[] = [
  preview,
  birth,
  readProfile,
  setStatus,
  readMemory,
  writeMemory,
  patchMemory,
  deleteMemory,
  appendToMemory,
  editMemory,
  restoreMemory,
  protectMemory,
  eraseMemory,
  listVersions,
  listMemories,
  changeMemories,
  listEvents,
  followEvents,
  readHead,
  searchMemories,
  searchByVector,
  storeVectors,
  readContext,
  readContextAbout,
  exportMemories,
  importMemories,
  rollBack,
  rotateKey,
  listKeys,
  createKey,
  endKey,
  replaceOperatorKey,
  changeProfile,
  eraseAgent,
]
