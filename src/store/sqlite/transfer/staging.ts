/**
 * Stages an import in many small writes with others in between. Rows are written at their final
 * place, as they will be if their keys do not change in the meantime.
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
  operationOf,
  withBrought,
} from '../../import-plan.ts'
import type { Identity, Refused } from '../../port/home.ts'
import type { HomeBounds } from '../../port/store.ts'
import type { ImportOrder } from '../../port/transfer.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareHomes } from '../keeping/homes.ts'
import { beneath } from '../keeping/log.ts'
import { preparePrune } from '../keeping/prune.ts'
import { type KeyState, prepareKeyState, prepareSaveKeyState } from '../keeping/states.ts'
import { prepareGiveUpAhead, prepareMark, prepareWriteAhead, sizesOf } from './ahead.ts'
import type { Steps } from './steps.ts'

/** The state of the import, passed from one write to the next. */
export interface Cursor {
  /** The number of the next row. */
  readonly id: number
  /** Complete keys. */
  readonly keys: number
  readonly brought: Brought
  /** Nothing is staged: a dry run, or the import has failed already. */
  readonly isDry: boolean
  /** Of the incomplete key: the row of its last version, and what was staged of it. */
  readonly n: number | null
  readonly count: number
  readonly bytes: number
  /** Versions that have arrived. */
  readonly versions: number
  /** Some versions were not staged, because the key was not new at the time. */
  readonly skipped: boolean
}

export type StageAnswer =
  | { readonly outcome: 'staged'; readonly cursor: Cursor }
  | { readonly outcome: 'over_quota' }
  | Refused

interface OpenHome {
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

/** Stages versions according to the fate of their key. */
function prepareVersions(db: DatabaseSync, bounds: HomeBounds) {
  const write = prepareWriteAhead(db)
  const prune = preparePrune(db, bounds)

  /** One more version of a new key; earlier ones over the limit are removed. */
  function asItWas({ identity, home }: OpenHome, cursor: Cursor, version: Arriving): Cursor {
    const { agentId } = identity
    const { id, n: previous } = cursor
    const author = version.by ? JSON.stringify(version.by) : null
    const n = write({ agentId, id, version, author, previous, isNewest: version.isNewest })
    const { count, freed } = prune.memory(agentId, home, { n, count: cursor.count + 1 })
    const bytes = cursor.bytes + sizesOf(version).size - freed
    return { ...cursor, id: id + 1, n, count, bytes }
  }

  /** The next version of an existing key. */
  function next(opened: OpenHome, cursor: Cursor, version: Arriving, follows: Follows): Cursor {
    const { agentId } = opened.identity
    const { id } = cursor
    const author = JSON.stringify(authorOf(opened.identity))
    const operation = operationOf(version, opened.order)
    const made = { ...version, ...follows.next, operation }
    const { previous } = follows
    const n = write({ agentId, id, version: made, author, previous, isNewest: true })
    return { ...cursor, id: id + 1, n, count: 1 }
  }

  return { asItWas, next, giveUp: prune.chain }
}

/** Prunes what one more version would prune. */
function prepareMakeRoom(db: DatabaseSync, bounds: HomeBounds) {
  const homes = prepareHomes(db)
  const saveState = prepareSaveKeyState(db)
  const prune = preparePrune(db, bounds)
  return ({ identity: { agentId } }: OpenHome, key: string, found: KeyState): void => {
    const home = homes.read(agentId)
    const { count, freed } = prune.memory(agentId, home, { ...found, count: found.count + 1 })
    if (count > found.count) return
    saveState(agentId, key, { ...found, count }, false)
    homes.save(agentId, { ...home, history: home.history - freed })
  }
}

interface Follows {
  readonly next: Extract<Fate, { fate: 'next' }>['next']
  readonly previous: number | null
}

/** Takes versions in order. */
function prepareTake(db: DatabaseSync, bounds: HomeBounds, steps: Steps) {
  const stateAt = prepareKeyState(db)
  const versions = prepareVersions(db, bounds)
  const makeRoom = prepareMakeRoom(db, bounds)

  function writeNewest(
    opened: OpenHome,
    cursor: Cursor,
    version: Arriving,
    fate: Fate,
    found: KeyState | undefined,
  ): Cursor {
    if (cursor.isDry) return { ...cursor, bytes: cursor.bytes + sizesOf(version).size }
    if (fate.fate === 'as_it_was') return versions.asItWas(opened, cursor, version)
    // The earlier versions were staged before it was known that the key is not new.
    versions.giveUp(opened.identity.agentId, opened.home, cursor.n, cursor.count)
    const bare = { ...cursor, ...NOTHING }
    if (fate.fate === 'left_out') return bare
    if (found) makeRoom(opened, version.key, found)
    return versions.next(opened, bare, version, { next: fate.next, previous: found?.n ?? null })
  }

  /** The key is complete. */
  function end(
    opened: OpenHome,
    cursor: Cursor,
    version: Arriving,
    found: KeyState | undefined,
  ): Cursor {
    const { identity, home, order, now } = opened
    const { agentId } = identity
    const newest = newestOf(version)
    const { meet, fails } = followImport(home, order, bounds, now)
    const met = meet(newest, found, 0)
    // If this turns out to be wrong at the end, the import is retried.
    const fate = cursor.skipped && met.fate === 'as_it_was' ? LEFT_OUT : met
    const { id, n, count, bytes } = writeNewest(opened, cursor, version, fate, found)
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

  return (opened: OpenHome, before: Cursor, version: Arriving): Cursor => {
    const cursor = { ...before, versions: before.versions + 1 }
    const found = stateAt(opened.identity.agentId, version.key)
    if (version.isNewest) return end(opened, cursor, version, found)
    if (found) return { ...cursor, skipped: true }
    const bytes = cursor.bytes + sizesOf(version).size
    return cursor.isDry ? { ...cursor, bytes } : versions.asItWas(opened, cursor, version)
  }
}

export function prepareStaging(db: DatabaseSync, refuse: Refuse, bounds: HomeBounds, steps: Steps) {
  const homes = prepareHomes(db)
  const take = prepareTake(db, bounds, steps)
  const { mark } = prepareMark(db)
  const giveUp = prepareGiveUpAhead(db)
  const most = mostKeys(bounds)

  return {
    /** `cursor`: undefined for the first piece. */
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
      const opened: OpenHome = { identity, home, order, now }
      const id = beneath({ imports: home.imports + 1 })
      const none = { id, keys: 0, brought: NOTHING_BROUGHT, ...NOTHING }
      let at: Cursor = cursor ?? { ...none, isDry: order.dryRun }
      if (!at.isDry) mark(agentId)
      for (const version of arriving) at = take(opened, at, version)
      const isTooMany = most > 0 && at.keys > most
      if (isTooMany || isTooMuch(at.brought, home, bounds)) return { outcome: 'over_quota' }
      return { outcome: 'staged', cursor: at }
    },
    /** Removes a slice; false if nothing is left. */
    dropImport(agentId: string): boolean {
      steps.drop(agentId)
      return giveUp(agentId)
    },
  }
}
