/** What the forms of the list do to a batch of memories. */
import { Problem } from '../../../errors.ts'
import { measured } from '../../../home/memories/content.ts'
import { refusal } from '../../../home/refusal.ts'
import { membersOf } from '../../../json/members.ts'
import type { Identity } from '../../../store/port/identity.ts'
import type { Change, Memory, Result } from '../../../store/port/memories.ts'
import type { Workspace } from '../workspace.ts'
import type { Verb } from './action.ts'
import {
  changeMost,
  changeTogether,
  isGone,
  leave,
  readTogether,
  type Tally,
  wasRefused,
} from './bulk.ts'
import type { Chosen } from './chosen.ts'
import { isPinned } from './found.ts'

/** The metadata with or without the pin. */
export function withPin(metadata: string, pinned: boolean): string {
  const members = new Map(membersOf(metadata))
  if (pinned) members.set('pinned', 'true')
  else members.delete('pinned')
  const written = [...members].map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  return `{${written.join(',')}}`
}

interface Batch {
  readonly workspace: Workspace
  readonly identity: Identity
  readonly chosen: readonly Chosen[]
  readonly tally: Tally
  /** All of the batch, or nothing. */
  readonly together: boolean
}

async function change({ workspace, identity, tally, together }: Batch, changes: readonly Change[]) {
  if (changes.length === 0) return undefined
  if (!together) return changeMost(workspace, identity, changes, tally)
  await changeTogether(workspace, identity, changes)
  tally.done += changes.length
  return undefined
}

const removal = ({ key, version }: Chosen): Change => ({
  verb: 'delete',
  key,
  expectedVersion: version,
})

const remove = (batch: Batch): Promise<void> => change(batch, batch.chosen.map(removal))

const memoryOf = (found: Result | undefined): Memory | undefined =>
  found?.outcome === 'found' ? found.memory : undefined

/** Undefined, and left as it is, if its metadata has no room for the pin. */
function pinning(
  { tally, together }: Batch,
  { key, version }: Chosen,
  metadata: string,
): Change | undefined {
  try {
    return measured({ verb: 'patch', key, metadata, expectedVersion: version } as const)
  } catch (error) {
    if (together || !(error instanceof Problem)) throw error
    leave(tally, wasRefused(key, error))
    return undefined
  }
}

/** The expected version ensures that the metadata is still the one that was read. */
async function setPinned(batch: Batch, pinned: boolean): Promise<void> {
  const { workspace, identity, chosen, tally } = batch
  const found = await readTogether(workspace, identity, chosen)
  const changes = chosen.flatMap((each, at) => {
    const { metadata = '{}' } = memoryOf(found[at]) ?? {}
    const isDone = memoryOf(found[at]) && isPinned(metadata) === pinned
    if (isDone) tally.already++
    const change = isDone ? undefined : pinning(batch, each, withPin(metadata, pinned))
    return change ? [change] : []
  })
  await change(batch, changes)
}

/** One by one: the protection of a memory is not a change of it. */
export async function setProtection(
  {
    workspace,
    identity,
    chosen,
    tally,
  }: Omit<Batch, 'together' | 'chosen'> & {
    readonly chosen: readonly { readonly key: string }[]
  },
  wanted: boolean,
): Promise<void> {
  const { store, clock } = workspace
  for (const { key } of chosen) {
    const found = await store.readMemory(identity, key)
    if (found.outcome === 'found' && (found.memory.protected ?? false) === wanted) {
      tally.already++
      continue
    }
    const answer = await store.protectMemory(identity, key, wanted, clock())
    if (answer.outcome === 'done') tally.done++
    else if (answer.outcome === 'missing') leave(tally, isGone(key))
    else throw refusal(answer)
  }
}

export const acts: Readonly<Record<Verb, (batch: Batch) => Promise<void>>> = {
  delete: remove,
  pin: (batch) => setPinned(batch, true),
  unpin: (batch) => setPinned(batch, false),
  protect: (batch) => setProtection(batch, true),
  unprotect: (batch) => setProtection(batch, false),
}
