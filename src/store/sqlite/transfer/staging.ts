/**
 * An import comes to the writer in many small writes, with others between them. Each writes its
 * versions where they will stay, as they are to be if nothing changes under their keys meanwhile.
 */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import { isPinned } from '../../change.ts'
import type { Arriving } from '../../import-pieces.ts'
import {
  type Brought,
  type Fate,
  followImport,
  isTooMuch,
  mostKeys,
  type Newest,
  NOTHING_BROUGHT,
  withBrought,
} from '../../import-plan.ts'
import type { Identity, Refused } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportOrder } from '../../port/transfer.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareHomes } from '../keeping/homes.ts'
import { beneath } from '../keeping/log.ts'
import { preparePrune } from '../keeping/prune.ts'
import { prepareSaveStand, prepareStand, type Stand } from '../keeping/stands.ts'
import { prepareGiveUpAhead, prepareMark, prepareWriteAhead, sizesOf } from './ahead.ts'
import type { Steps } from './steps.ts'

/** How far the import has come: what one write hands to the next. */
export interface Cursor {
  /** Of the next row. */
  readonly id: number
  /** Keys that are whole. */
  readonly keys: number
  readonly brought: Brought
  /** Nothing is written ahead: only what would be is asked for, or it has failed already. */
  readonly isDry: boolean
  /** Of the key that is not: where its last version lies, and what was written of it. */
  readonly n: number | null
  readonly count: number
  readonly bytes: number
  /** Of it that have come. */
  readonly versions: number
  /** Some of it was not written, for the key had a number then. */
  readonly skipped: boolean
}

export type StageAnswer =
  | { readonly outcome: 'staged'; readonly cursor: Cursor }
  | { readonly outcome: 'over_quota' }
  | Refused

interface Desk {
  readonly identity: Identity
  readonly home: Home
  readonly order: ImportOrder
  readonly now: number
}

const NOTHING = { n: null, count: 0, bytes: 0, versions: 0, skipped: false } as const

const LEFT_OUT: Fate = { fate: 'left_out' }

const newestOf = ({ content, by: _, isNewest: __, ...facts }: Arriving): Newest => ({
  ...facts,
  size: sizesOf({ content }).size,
})

/** Writes versions ahead, each as its key's fate has it. */
function prepareVersions(db: DatabaseSync, bounds: HomeBounds) {
  const write = prepareWriteAhead(db)
  const prune = preparePrune(db, bounds)

  /** One more of a key that never had anything, with those before it that are not to be kept gone. */
  function asItWas({ identity, home }: Desk, cursor: Cursor, version: Arriving): Cursor {
    const { agentId } = identity
    const { id, n: previous } = cursor
    const author = version.by ? JSON.stringify(version.by) : null
    const n = write({ agentId, id, version, author, previous })
    const { count, freed } = prune.memory(agentId, home, { n, count: cursor.count + 1 })
    const bytes = cursor.bytes + sizesOf(version).size - freed
    return { ...cursor, id: id + 1, n, count, bytes }
  }

  /** The one that goes on where another ended. */
  function next(desk: Desk, cursor: Cursor, version: Arriving, follows: Follows): Cursor {
    const { agentId } = desk.identity
    const { id } = cursor
    const author = JSON.stringify(authorOf(desk.identity))
    const made = { ...version, ...follows.next, operation: 'import' as const }
    const n = write({ agentId, id, version: made, author, previous: follows.previous })
    return { ...cursor, id: id + 1, n, count: 1 }
  }

  return { asItWas, next, giveUp: prune.chain }
}

/** Gives up what one version more would have given up: it is over the count already. */
function prepareMakeRoom(db: DatabaseSync, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const saveStand = prepareSaveStand(db)
  const prune = preparePrune(db, bounds)
  return ({ identity: { agentId } }: Desk, key: string, found: Stand): void => {
    const home = homes.read(agentId)
    const { count, freed } = prune.memory(agentId, home, { ...found, count: found.count + 1 })
    if (count > found.count) return
    saveStand(agentId, key, { ...found, count }, false)
    homes.save(agentId, { ...home, history: home.history - freed })
  }
}

interface Follows {
  readonly next: Extract<Fate, { fate: 'next' }>['next']
  readonly previous: number | null
}

/** Takes what arrives, one version after the other. */
function prepareTake(db: DatabaseSync, bounds: HomeBounds, steps: Steps) {
  const standAt = prepareStand(db)
  const versions = prepareVersions(db, bounds)
  const makeRoom = prepareMakeRoom(db, bounds)

  function writeNewest(
    desk: Desk,
    cursor: Cursor,
    version: Arriving,
    fate: Fate,
    found: Stand | undefined,
  ): Cursor {
    if (cursor.isDry) return { ...cursor, bytes: cursor.bytes + sizesOf(version).size }
    if (fate.fate === 'as_it_was') return versions.asItWas(desk, cursor, version)
    // Earlier ones were written where it was not known yet that the key has a number.
    versions.giveUp(desk.identity.agentId, desk.home, cursor.n, cursor.count)
    const bare = { ...cursor, ...NOTHING }
    if (fate.fate === 'left_out') return bare
    if (found) makeRoom(desk, version.key, found)
    return versions.next(desk, bare, version, { next: fate.next, previous: found?.n ?? null })
  }

  /** The key is whole. */
  function end(desk: Desk, cursor: Cursor, version: Arriving, found: Stand | undefined): Cursor {
    const { identity, home, order, now } = desk
    const { agentId } = identity
    const newest = newestOf(version)
    const { meet, fails } = followImport(home, order, bounds, now)
    const met = meet(newest, found, 0)
    // Who ends the import sees that it is not so, and has it begin anew.
    const fate = cursor.skipped && met.fate === 'as_it_was' ? LEFT_OUT : met
    const { id, n, count, bytes } = writeNewest(desk, cursor, version, fate, found)
    const pinned = version.content !== undefined && isPinned(version.content.metadata)
    const previous = found?.n ?? null
    steps.add(agentId, {
      newest,
      bytes,
      versions: cursor.versions,
      pinned,
      fate,
      previous,
      n,
      count,
    })
    const brought = withBrought(cursor.brought, newest, fate)
    const isDry = cursor.isDry || fails()
    return { ...cursor, ...NOTHING, id, keys: cursor.keys + 1, brought, isDry }
  }

  return (desk: Desk, before: Cursor, version: Arriving): Cursor => {
    const cursor = { ...before, versions: before.versions + 1 }
    const found = standAt(desk.identity.agentId, version.key)
    if (version.isNewest) return end(desk, cursor, version, found)
    if (found) return { ...cursor, skipped: true }
    const bytes = cursor.bytes + sizesOf(version).size
    return cursor.isDry ? { ...cursor, bytes } : versions.asItWas(desk, cursor, version)
  }
}

export function prepareStaging(db: DatabaseSync, refuse: Refuse, bounds: HomeBounds, steps: Steps) {
  const homes = prepareHomes(db)
  const take = prepareTake(db, bounds, steps)
  const { mark } = prepareMark(db)
  const giveUp = prepareGiveUpAhead(db)
  const most = mostKeys(bounds)

  return {
    /** `cursor`: undefined of the first. */
    stageImport(
      identity: Identity,
      arriving: readonly Arriving[],
      cursor: Cursor | undefined,
      order: ImportOrder,
      now: number,
    ): StageAnswer {
      const refused = refuse(identity)
      if (refused) return refused
      const { agentId } = identity
      const home = homes.read(agentId)
      const desk: Desk = { identity, home, order, now }
      const id = beneath({ imports: home.imports + 1 })
      const none = { id, keys: 0, brought: NOTHING_BROUGHT, ...NOTHING }
      let at: Cursor = cursor ?? { ...none, isDry: order.dryRun }
      if (!at.isDry) mark(agentId)
      for (const version of arriving) at = take(desk, at, version)
      const isTooMany = most > 0 && at.keys > most
      if (isTooMany || isTooMuch(at.brought, home, bounds)) return { outcome: 'over_quota' }
      return { outcome: 'staged', cursor: at }
    },
    /** Gives up some of what was written ahead; false once nothing of it is left. */
    dropImport(agentId: string): boolean {
      steps.drop(agentId)
      return giveUp(agentId)
    },
  }
}
