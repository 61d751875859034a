/** Owners of agents as either engine selects them. */
import type { Identity } from './port/home.ts'
import type { Owner } from './port/sessions.ts'

export interface OwnerRow extends Pick<Identity, 'tokenHash' | 'status'> {
  lastEvent: number
}

export const ownerOf = (agentId: string, { tokenHash, status, lastEvent }: OwnerRow): Owner => ({
  identity: { agentId, kind: 'operator', tokenHash, status },
  lastEvent,
})
