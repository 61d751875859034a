/** The state of a memory: its current version, its versions, and the one that a page shows. */
import { problem } from '../../../errors.ts'
import { findVersion } from '../../../home/memories/memory.ts'
import { findVersions } from '../../../home/memories/versions.ts'
import { refusal } from '../../../home/refusal.ts'
import type { Identity } from '../../../store/port/home.ts'
import type { Memory, VersionSummary } from '../../../store/port/keeping/memories.ts'
import type { Workspace } from '../workspace.ts'

/** With a text of 16 KiB and the list, a page stays under 60 KB. */
const VERSIONS_PER_PAGE = 20

export interface Asked {
  readonly key: string
  /** The version to show; by default, the current or last one. */
  readonly version?: number | undefined
  /** Only versions below this one are listed. */
  readonly before?: number | undefined
}

/** A page of versions. */
export type Versions = Awaited<ReturnType<typeof findVersions>>

export interface MemoryView {
  /** Undefined if it was deleted. */
  readonly current: Memory | undefined
  readonly newest: VersionSummary | undefined
  readonly isProtected: boolean
  readonly listed: Versions
  /** Undefined if no text is kept. */
  readonly shown: Memory | undefined
}

/** A delete is a version without a text. */
export const hasText = ({ operation }: VersionSummary): boolean => operation !== 'delete'

async function currentMemory({ store }: Workspace, identity: Identity, key: string) {
  const found = await store.readMemory(identity, key)
  if (found.outcome === 'missing') return undefined
  if (found.outcome !== 'found') throw refusal(found)
  return found.memory
}

async function isProtected({ store }: Workspace, identity: Identity, key: string) {
  const bounds = { limit: 1, maxBytes: 1, whole: false }
  const found = await store.listMemories(identity, { prefix: key, order: 'key', ...bounds })
  if (found.outcome !== 'memories') throw refusal(found)
  const [first] = found.memories
  return first?.key === key && first.protected === true
}

/** Throws `memory_not_found`, `version_not_found` or `version_gone`. */
export async function findMemoryView(
  workspace: Workspace,
  identity: Identity,
  { key, version, before }: Asked,
): Promise<MemoryView> {
  const page = (upTo: number | undefined) =>
    findVersions(workspace, identity, key, { before: upTo, limit: VERSIONS_PER_PAGE })
  const [current, first, guarded] = await Promise.all([
    currentMemory(workspace, identity, key),
    page(undefined),
    isProtected(workspace, identity, key),
  ])
  const [newest] = first.versions
  if (!current && !newest) throw problem('memory_not_found')
  const asked = version ?? current?.version ?? first.versions.find(hasText)?.version
  const shown =
    asked === undefined || asked === current?.version
      ? current
      : await findVersion(workspace, identity, key, asked)
  const listed = before === undefined ? first : await page(before)
  return { current, newest, isProtected: guarded, listed, shown }
}
