/** Counts erasures of texts. */
import type { DatabaseSync } from 'node:sqlite'
import type { Identity } from '../../port/home.ts'
import type { ErasuresAnswer } from '../../port/transfer.ts'
import { prepare } from '../engine/connection.ts'
import type { Refuse } from '../identities.ts'

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
