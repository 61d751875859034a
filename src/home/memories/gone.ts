/** What became of a memory that is gone, so that a refusal advises only what works. */
import type { Identity } from '../../store/port/identity.ts'
import type { ChangeError, Deleted } from '../../store/port/memories.ts'
import type { Home } from '../home.ts'

/** As far as the identity may see. */
export interface Gone {
  readonly deleted: Deleted
  /** The newest version that can be restored. */
  readonly lastVersion?: number | undefined
  /** The key that a rename gave it. */
  readonly renamedTo?: string | undefined
}

/** Deletions have no text, and follow each other only where the texts between them were erased. */
const NEWEST = 20

async function lastVersion({ store }: Pick<Home, 'store'>, identity: Identity, key: string) {
  const found = await store.listVersions(identity, key, undefined, NEWEST)
  if (found.outcome !== 'versions') return undefined
  return found.versions.find(({ operation }) => operation !== 'delete')?.version
}

/** The event has the time of the tombstone, so that one look into the log finds it. */
async function renamedTo(
  { store }: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  since: number,
) {
  const query = { order: 'oldest', type: 'rename', limit: NEWEST, prefix: '', key, since } as const
  const found = await store.listEvents(identity, query)
  if (found.outcome !== 'page') return undefined
  return found.events.findLast(({ from }) => from === key)?.key
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
  return { deleted, renamedTo: await renamedTo(home, identity, key, deleted.deletedAt) }
}

/** Undefined if the memory is not gone, or was never there. */
export async function goneBy(
  home: Pick<Home, 'store'>,
  identity: Identity,
  key: string,
  fault: ChangeError,
): Promise<Gone | undefined> {
  const found = fault.outcome === 'gone' ? await home.store.readMemory(identity, key) : fault
  const deleted = 'deleted' in found ? found.deleted : undefined
  return deleted && whereItWent(home, identity, key, deleted)
}
