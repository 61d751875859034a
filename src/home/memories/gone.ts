/** What became of a memory that is gone, so that a refusal advises only what works. */
import { ifAnswered } from '../../store/port/errors.ts'
import type { Identity } from '../../store/port/identity.ts'
import type { ChangeError, Deleted } from '../../store/port/memories.ts'
import type { Home } from '../home.ts'

/** As far as the identity may see. */
export interface Gone {
  readonly deleted: Deleted
  /** The newest version that can be restored. */
  readonly lastVersion?: number | undefined
  /** The key that its renames have led it to. */
  readonly renamedTo?: string | undefined
}

/** Deletions have no text, and follow each other only where the texts between them were erased. */
const NEWEST = 20

/** The newest version that can be restored; undefined if none can. */
export async function lastVersion(
  { store }: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
): Promise<number | undefined> {
  const found = await store.listVersions(identity, key, undefined, NEWEST)
  if (found.outcome !== 'versions') return undefined
  return found.versions.find(({ operation }) => operation !== 'delete')?.version
}

/**
 * The same of a memory that was just deleted; undefined if the store does not answer now, which is no
 * reason to refuse what is committed.
 */
export const lastOfDeleted = (...of: Parameters<typeof lastVersion>) =>
  ifAnswered(lastVersion(...of).then((last) => ({ last })))

/** Renames from a key, oldest first. The first of this time is found at once. */
async function renamesFrom(
  { store }: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  since: number,
) {
  const query = { order: 'oldest', type: 'rename', limit: NEWEST, prefix: '', key, since } as const
  const found = await store.listEvents(identity, query)
  return found.outcome === 'page' ? found.events.filter(({ from }) => from === key) : []
}

/** Renames of a memory that are followed. */
const MOST_RENAMES = 10

/** A memory, as far as its renames were followed: at this key since this event. */
interface Whereabouts {
  readonly key: string
  /** The event of the rename, and its time; 0 and that of the tombstone before the first. */
  readonly event: number
  readonly at: number
}

/**
 * The key if the memory is there, or was deleted there and can be restored; where to look further
 * if it left much later; undefined if it is gone.
 */
async function stillAt(
  home: Pick<Home, 'store'>,
  identity: Identity,
  { key, event, at }: Whereabouts,
): Promise<string | Whereabouts | undefined> {
  const found = await home.store.readMemory(identity, key)
  if (found.outcome === 'found') return found.memory.createdAt <= at ? key : undefined
  if (found.outcome !== 'missing' || !found.deleted) return undefined
  if ((await lastVersion(home, identity, key)) !== undefined) return key
  const { deletedAt } = found.deleted
  return deletedAt > at ? { key, event, at: deletedAt } : undefined
}

/** The tombstone has the time of the last rename. Undefined also if a key is out of reach. */
async function renamedTo(
  home: Pick<Home, 'store'>,
  identity: Identity,
  tombstone: Whereabouts,
): Promise<string | undefined> {
  let now = tombstone
  for (let renames = 0; renames < MOST_RENAMES; renames++) {
    const found = await renamesFrom(home, identity, now.key, now.at)
    const next = now.event === 0 ? found.at(-1) : found.find(({ id }) => id > now.event)
    if (next) {
      if (next.key === undefined) return undefined
      now = { key: next.key, event: next.id, at: next.createdAt }
      continue
    }
    const still = now.event === 0 ? undefined : await stillAt(home, identity, now)
    if (typeof still !== 'object') return still
    now = still
  }
  return undefined
}

/** `deleted`: the tombstone. */
export async function whereItWent(
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  deleted: Deleted,
): Promise<Gone> {
  const last = await lastVersion(home, identity, key)
  if (last !== undefined) return { deleted, lastVersion: last }
  const tombstone = { key, event: 0, at: deleted.deletedAt }
  return { deleted, renamedTo: await renamedTo(home, identity, tombstone) }
}

/** Undefined if the memory is not gone, or was never there. */
export async function goneBy(
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  fault: ChangeError,
): Promise<Gone | undefined> {
  const isOfVersion = fault.outcome === 'gone' || fault.outcome === 'no_version'
  const found = isOfVersion ? await home.store.readMemory(identity, key) : fault
  const deleted = 'deleted' in found ? found.deleted : undefined
  return deleted && whereItWent(home, identity, key, deleted)
}
