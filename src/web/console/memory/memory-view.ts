/** The state of a memory: its current version, its versions, and the one that a page shows. */
import { problem } from '../../../errors.ts'
import { findMemory, findVersion } from '../../../home/memories/memory.ts'
import { findVersions } from '../../../home/memories/versions.ts'
import { refusal } from '../../../home/refusal.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Memory, VersionSummary } from '../../../store/port/memories.ts'
import type { Workspace } from '../workspace.ts'
import { unlessGone } from './gone.ts'

/** With a text of 16 KiB and the list, a page stays under 60 KB. */
const VERSIONS_PER_PAGE = 20

/** Versions that are offered to be compared or erased: more than are kept, unless all are. */
export const MOST_VERSIONS = 1_000

export interface Asked {
  readonly key: string
  /** The version to show; by default, the current or last one. */
  readonly version?: number | undefined
  /** The version whose changes are shown. */
  readonly changes?: number | undefined
  /** Only versions below this one are listed. */
  readonly before?: number | undefined
}

/** A page of versions. */
export type Versions = Awaited<ReturnType<typeof findVersions>>

/** A delete is a version without a text. */
export const hasText = ({ operation }: VersionSummary): boolean => operation !== 'delete'

async function isProtected({ store }: Workspace, identity: Identity, key: string) {
  const bounds = { limit: 1, maxBytes: 1, whole: false }
  const found = await store.listMemories(identity, { prefix: key, order: 'key', ...bounds })
  if (found.outcome !== 'memories') throw refusal(found)
  const [first] = found.memories
  return first?.key === key && first.protected === true
}

/** A version, and the text that it changed: undefined if it was the first, or that is not kept. */
export interface Change {
  readonly was: Memory | undefined
  readonly is: Memory
}

/** `from`: the earlier version; by default the one before it that has a text. */
export async function findChange(
  workspace: Workspace,
  identity: Identity,
  key: string,
  { from, to }: { readonly from?: number | undefined; readonly to: number },
): Promise<Change> {
  const is = await findVersion(workspace, identity, key, to)
  let [earlier, before] = [from, to as number | undefined]
  while (earlier === undefined && before !== undefined) {
    const page = await findVersions(workspace, identity, key, { before, limit: VERSIONS_PER_PAGE })
    earlier = page.versions.find(hasText)?.version
    before = page.next
  }
  const was =
    earlier === undefined ? undefined : await findVersion(workspace, identity, key, earlier)
  return { was, is }
}

export type MemoryView = Awaited<ReturnType<typeof findMemoryView>>

/**
 * `current`: undefined if it was deleted; `shown`: undefined if no text is kept; `change`: of the
 * version that was asked for. Throws `memory_not_found`, `version_not_found` or `version_gone`.
 */
export async function findMemoryView(
  workspace: Workspace,
  identity: Identity,
  { key, version, changes, before }: Asked,
) {
  const page = (upTo: number | undefined) =>
    findVersions(workspace, identity, key, { before: upTo, limit: VERSIONS_PER_PAGE })
  const [current, first, guarded] = await Promise.all([
    unlessGone(findMemory(workspace, identity, key)),
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
  // The listed page begins where the changes are, so that they are seen.
  const from = before ?? (changes && changes < (first.next ?? 0) ? changes + 1 : undefined)
  const listed = from === undefined ? first : await page(from)
  const change = changes && (await findChange(workspace, identity, key, { to: changes }))
  return { current, newest, isProtected: guarded, listed, shown, change: change || undefined }
}
