/** Finding out what became of a change whose answer was lost: whether its version is there. */
import { type HomeError, VersionConflict } from './errors.ts'
import type { CallOptions, Settled } from './transport.ts'
import type { DeletedMemory, Memory, Version } from './wire.ts'

/** Where to look. */
export interface Kept {
  read(
    key: string,
    options: CallOptions & { readonly version: number },
  ): Promise<Memory | undefined>
  versions(key: string, options: CallOptions): AsyncIterable<Version>
}

export interface LostChange {
  readonly key: string
  readonly expectedVersion: number
  readonly options: CallOptions
}

export interface LostSave extends LostChange {
  /** Whether a version is the one that this change would have made. */
  readonly isOurs: (found: Memory) => boolean | Promise<boolean>
}

/** Undefined: there never was one of that number. */
async function versionAt(
  kept: Kept,
  { key, options }: LostChange,
  version: number,
): Promise<Version | 'gone' | undefined> {
  for await (const each of kept.versions(key, options)) {
    if (each.version <= version) return each.version === version ? each : undefined
  }
  return 'gone'
}

/** Of a memory that was created meanwhile: the first version since nothing was there. */
async function firstVersion(kept: Kept, { key, options }: LostChange): Promise<number | undefined> {
  let first: number | undefined
  for await (const { version, operation } of kept.versions(key, options)) {
    if (operation === 'delete') break
    first = version
  }
  return first
}

/** The version that came after the expected one is ours, or somebody else's. */
export async function settleSave(
  kept: Kept,
  lost: LostSave,
  refusal: HomeError,
): Promise<Settled<{ readonly memory: Memory }>> {
  if (!(refusal instanceof VersionConflict)) return 'unknown'
  const { key, expectedVersion, options, isOurs } = lost
  const next = expectedVersion > 0 ? expectedVersion + 1 : await firstVersion(kept, lost)
  const made = next === undefined ? undefined : await versionAt(kept, lost, next)
  if (made === 'gone') return 'unknown'
  if (!made || made.operation === 'delete') return 'not made'
  const memory = await kept.read(key, { ...options, version: made.version })
  return memory && (await isOurs(memory)) ? { made: { memory } } : 'not made'
}

/** A delete of the version that was to be deleted is as good as ours. */
export async function settleDelete(
  kept: Kept,
  lost: LostChange,
): Promise<Settled<{ readonly deleted: DeletedMemory }>> {
  const made = await versionAt(kept, lost, lost.expectedVersion + 1)
  if (made === 'gone') return 'unknown'
  if (made?.operation !== 'delete') return 'not made'
  const { version, createdAt: deletedAt } = made
  return { made: { deleted: { key: lost.key, version, deletedAt } } }
}
