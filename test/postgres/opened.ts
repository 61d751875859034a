/** A store on a database of its own, and connections to the same beside it. */
import { inject } from 'vitest'
import { type Connections, openConnections } from '../../src/store/postgres/engine/connections.ts'
import { hostsOf } from '../../src/store/postgres/engine/hosts.ts'
import { processTimers } from '../../src/timers.ts'
import { openFixture, type StoreFixture } from '../store/fixture.ts'
import { cloneDatabase, type Database } from './databases.ts'

export interface Opened {
  readonly database: Database
  readonly fixture: StoreFixture
  readonly connections: Connections
  readonly close: () => Promise<void>
}

export const connectTo = (url: string, max: number): Connections =>
  openConnections(hostsOf(url), max, 'agent-home test', { timers: processTimers })

export async function openBeside(max: number): Promise<Opened> {
  const database = await cloneDatabase(inject('postgresUrl'), inject('postgresTemplate'))
  // Others are still connected when the fixture closes.
  const kept = { ...database, directory: async () => '', drop: async () => {} }
  const fixture = await openFixture({ name: 'postgres', fresh: async () => kept })
  const connections = connectTo(database.url, max)
  return {
    database,
    fixture,
    connections,
    async close() {
      await connections.close()
      await fixture.close()
      await database.drop()
    },
  }
}
