/** Deletes the rows of an erasure. The store then overwrites them in all files. */
import type { DatabaseSync } from 'node:sqlite'
import { authorOf } from '../../answers.ts'
import { type Erased, numbersOf, planErasure } from '../../erasure.ts'
import type { Identity } from '../../port/home.ts'
import type { EraseAnswer, Erasure } from '../../port/keeping/memories.ts'
import type { ErasuresAnswer } from '../../port/transfer.ts'
import { vectorFates } from '../../verbs/kept-vectors.ts'
import { prepare } from '../engine/connection.ts'
import { prepareVerbs } from '../engine/run.ts'
import type { Tally } from '../engine/totals.ts'
import type { Refuse } from '../identities.ts'
import { type Home, prepareHomes } from './homes.ts'
import { prepareAppend, prepareDrop } from './log.ts'
import { afterDelete, type KeyState, prepareKeyState, prepareSaveKeyState } from './states.ts'
import { type KeptVersionRow, prepareChain } from './versions.ts'

type Gone = Erased<KeptVersionRow>

/** Removes versions of a memory and links the remaining ones. */
function prepareRemoval(db: DatabaseSync) {
  const drop = prepareDrop(db)
  const link = prepare(db, 'UPDATE log SET previous = ? WHERE n = ?')
  return (agentId: string, home: Home, { gone, relinked }: Gone): void => {
    for (const row of gone) drop(agentId, home, row)
    for (const { n, previous } of relinked) link.run(previous, n)
  }
}

const stateAfter = (state: KeyState, { left, gone }: Gone): KeyState =>
  left
    ? { ...afterDelete(state, left), n: null, count: 0, run: 0, kept: false }
    : { ...state, count: state.count - gone.length, run: 0 }

/** Read beside the snapshot of an export, and while it is sent. */
export function prepareCountErasures(db: DatabaseSync, refuse: Refuse) {
  const select = prepare<{ erasures: number; lastEvent: number }>(
    db,
    'SELECT erasures, last_event AS lastEvent FROM homes WHERE agent_id = ?',
  )
  return (identity: Identity): ErasuresAnswer => {
    const found = select.get(identity.agentId)
    return refuse(identity) ?? { outcome: 'erasures', erasures: 0, lastEvent: 0, ...found }
  }
}

/** `events`: how many are retained. */
export function prepareErase(db: DatabaseSync, refuse: Refuse, tally: Tally, events: number) {
  const stateAt = prepareKeyState(db)
  const saveState = prepareSaveKeyState(db)
  const chain = prepareChain(db)
  const remove = prepareRemoval(db)
  const homes = prepareHomes(db)
  const append = prepareAppend(db, events)
  const { dropVector } = prepareVerbs(db, vectorFates)
  const count = prepare(db, 'UPDATE homes SET erasures = erasures + 1 WHERE agent_id = ?')

  return (identity: Identity, key: string, erasure: Erasure, now: number): EraseAnswer => {
    const refused = refuse(identity)
    if (refused) return refused
    const { agentId } = identity
    const state = stateAt(agentId, key)
    if (!state) return { outcome: 'missing' }
    const home = homes.read(agentId)
    const erased = planErasure(erasure, state, [...chain(state.n, 0)], home, now)
    if (erased === 'current') return { outcome: 'current' }
    const { gone, ledger, made: version } = erased
    remove(agentId, home, erased)
    saveState(agentId, key, stateAfter(state, erased), false)
    if (erased.left) dropVector(agentId, key)
    const entry = { event: 'erase', key, version, by: authorOf(identity), at: now } as const
    homes.save(agentId, append(agentId, { ...home, ...ledger }, entry).home)
    if (gone.length > 0) count.run(agentId)
    tally.created(ledger.memories - home.memories)
    return { outcome: 'erased', versions: numbersOf(gone) }
  }
}
