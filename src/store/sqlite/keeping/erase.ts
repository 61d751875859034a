/** What is erased: its rows. What the store does then, no byte of them outlives. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import { isLiving } from '../../change.ts'
import type { Identity } from '../../port/home.ts'
import type { EraseAnswer, Erasure } from '../../port/keeping/memories.ts'
import { prepare } from '../engine/connection.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareHomes } from './homes.ts'
import { prepareAppend, prepareDrop } from './log.ts'
import { prepareSaveStand, prepareStand, type Saved, type Stand } from './stands.ts'
import { type KeptVersionRow, prepareChain } from './versions.ts'

const isErased = (erasure: Erasure, { n, version }: KeptVersionRow, stand: Stand): boolean => {
  if (erasure === 'all') return true
  return n !== stand.n && (erasure === 'history' || erasure.includes(version))
}

const erasesCurrent = (erasure: Erasure, stand: Stand): boolean =>
  typeof erasure !== 'string' && isLiving(stand) && erasure.includes(stand.version)

/** What is left where all is gone: a living one gets a version more, as by a delete. */
const remainsOf = (stand: Stand, now: number): Saved => ({
  ...stand,
  version: stand.version + (stand.deleted ? 0 : 1),
  updatedAt: stand.deleted ? stand.updatedAt : Math.max(now, stand.updatedAt),
  deleted: true,
  size: 0,
  pinned: false,
  count: 0,
  n: null,
})

/** Removes versions of a memory, and lets those that stay name each other. */
function prepareRemoval(db: DatabaseSync) {
  const drop = prepareDrop(db)
  const link = prepare(db, 'UPDATE log SET previous = ? WHERE n = ?')
  return (
    agentId: string,
    home: Home,
    rows: readonly KeptVersionRow[],
    gone: ReadonlySet<KeptVersionRow>,
  ): void => {
    for (const row of gone) drop(agentId, home, row)
    const stay = rows.filter((row) => !gone.has(row))
    for (const [at, row] of stay.entries()) link.run(stay[at + 1]?.n ?? null, row.n)
  }
}

const sizeOf = (rows: Iterable<KeptVersionRow>): number =>
  [...rows].reduce((sum, { size }) => sum + size, 0)

/** `events`: how many are kept. */
export function prepareErase(db: DatabaseSync, refuse: Refuse, tally: Tally, events: number) {
  const standAt = prepareStand(db)
  const saveStand = prepareSaveStand(db)
  const chain = prepareChain(db)
  const remove = prepareRemoval(db)
  const homes = prepareHomes(db)
  const append = prepareAppend(db, events)

  function counted(home: Home, stand: Stand, gone: Iterable<KeptVersionRow>, all: boolean): Home {
    const ended = all && isLiving(stand) ? 1 : 0
    const current = ended * stand.size
    return {
      ...home,
      memories: home.memories - ended,
      deleted: home.deleted + ended,
      bytes: home.bytes - current,
      history: home.history - (sizeOf(gone) - current),
    }
  }

  return (identity: Identity, key: string, erasure: Erasure, now: number): EraseAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const stand = standAt(agentId, key)
    if (!stand) return { outcome: 'missing' }
    if (erasesCurrent(erasure, stand)) return { outcome: 'current' }
    const rows = [...chain(stand.n, 0)]
    const gone = new Set(rows.filter((row) => isErased(erasure, row, stand)))
    const all = erasure === 'all'
    const after = all ? remainsOf(stand, now) : { ...stand, count: rows.length - gone.size }
    const home = homes.read(agentId)
    remove(agentId, home, rows, gone)
    const next = counted(home, stand, gone, all)
    saveStand(agentId, key, after, false)
    const author = JSON.stringify(authorOf(identity))
    const version = after.version === stand.version ? undefined : after.version
    const entry = { event: 'erase', key, version, author, at: now } as const
    homes.save(agentId, append(agentId, next, entry).home)
    tally.created(next.memories - home.memories)
    return {
      outcome: 'erased',
      versions: [...gone].map((row) => row.version).sort((a, b) => a - b),
    }
  }
}
