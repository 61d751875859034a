/** The three sides of a conflict: what both began with, what is stored, and what you have. */
import { Problem } from '../../../../errors.ts'
import { findMemory, findVersion } from '../../../../home/memories/memory.ts'
import type { Fields } from '../../../../http/form.ts'
import type { Identity } from '../../../../store/port/home.ts'
import type { Memory } from '../../../../store/port/keeping/memories.ts'
import type { Workspace } from '../../workspace.ts'
import { withLineFeeds } from './line-ends.ts'
import { mergeTexts, type Part } from './merge-lines.ts'
import { type MergedMetadata, mergeMetadata } from './merge-metadata.ts'

export interface Sides {
  readonly key: string
  /** Undefined where it is not kept any more, or where there never was one. */
  readonly base: Memory | undefined
  readonly theirs: Memory
  readonly yours: Pick<Memory, 'text' | 'metadata'>
}

export interface Merged {
  readonly parts: readonly Part[]
  readonly metadata: MergedMetadata
}

const numberIn = (text: string | undefined): number | undefined =>
  /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined

/** A version that gave way, was erased or never was is none. */
async function kept(workspace: Workspace, identity: Identity, key: string, version?: number) {
  if (!version) return undefined
  try {
    return await findVersion(workspace, identity, key, version)
  } catch (error) {
    const gone = error instanceof Problem && /^version_/.test(error.code)
    if (gone) return undefined
    throw error
  }
}

/**
 * `sent`: key, text, metadata, the `base` they began with, and the version `theirs` that they were
 * shown beside; without that, beside what is stored now. Throws `memory_not_found`.
 */
export async function findSides(
  workspace: Workspace,
  identity: Identity,
  sent: Fields,
): Promise<Sides> {
  const { key = '', text = '', metadata, base, theirs } = sent
  const version = (each: string | undefined) => kept(workspace, identity, key, numberIn(each))
  return {
    key,
    base: await version(base),
    theirs: (await version(theirs)) ?? (await findMemory(workspace, identity, key)),
    yours: { text: withLineFeeds(text), metadata: metadata || '{}' },
  }
}

export const mergedSides = ({ base, theirs, yours }: Sides): Merged => ({
  parts: mergeTexts(base && withLineFeeds(base.text), withLineFeeds(theirs.text), yours.text),
  metadata: mergeMetadata(base?.metadata, theirs.metadata, yours.metadata),
})

export const disputedParts = ({ parts }: Merged) => parts.filter((part) => part.disputed)

export const disputedMembers = ({ metadata }: Merged) =>
  metadata.members.filter(({ disputed }) => disputed)

export const isDisputed = (merged: Merged): boolean =>
  disputedParts(merged).length + disputedMembers(merged).length > 0
