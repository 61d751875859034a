/** The scale-out engine behind the port: any number of nodes on one PostgreSQL. */
import { StoreRefused, StoreUnavailable } from '../port/errors.ts'
import type { GatewayStore } from '../port/gateway.ts'
import type { Identity } from '../port/home.ts'
import type { Store } from '../port/store.ts'
import { bearIn } from './agents.ts'
import { type Connections, openConnections } from './engine/connections.ts'
import { hostsOf, locationOf } from './engine/hosts.ts'
import { prepareServer } from './engine/migrations.ts'
import { gatewayVerbs } from './entries.ts'
import { openExport } from './export.ts'
import { rememberIdentities } from './identities.ts'
import { readTogether } from './memories.ts'
import { permitVerbs } from './permits.ts'
import { homeReads } from './reads.ts'
import { sessionVerbs } from './sessions.ts'
import { homeWrites } from './writes.ts'

/** Connections of one node, unless DATABASE_URL says `?pool_max=…`. */
const CONNECTIONS = 10
/** A snapshot holds its connection as long as its reader reads: it must not take a hot one. */
const EXPORT_CONNECTIONS = 4
/** The open half waits among itself, never in front of the home. */
const GATEWAY_CONNECTIONS = 4

const poolMax = (databaseUrl: string): number =>
  Number(URL.parse(databaseUrl)?.searchParams.get('pool_max') ?? CONNECTIONS)

/** Throws StoreRefused: out of reach, unsafe, too old, or written by a newer program. */
export async function openPostgres(databaseUrl: string): Promise<Store> {
  const location = locationOf(databaseUrl)
  const hosts = hostsOf(databaseUrl)
  const warnings = await prepareServer(hosts).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? outOfReach(location, error) : error
  })
  const hot = openConnections(hosts, poolMax(databaseUrl), 'agent-home')
  const exports = openConnections(hosts, EXPORT_CONNECTIONS, 'agent-home export')
  const gateway = openConnections(hosts, GATEWAY_CONNECTIONS, 'agent-home gateway')
  return {
    location,
    warnings,
    ...verbs(hot, exports),
    ...gatewayVerbs(gateway),
    async close() {
      await Promise.all([hot, exports, gateway].map((pool) => pool.close()))
    },
  }
}

function outOfReach(location: string, error: StoreUnavailable): StoreRefused {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new StoreRefused(`${location} cannot be used: ${reason}`, { cause: error })
}

function verbs(
  hot: Connections,
  exports: Connections,
): Omit<Store, 'location' | 'warnings' | 'close' | keyof GatewayStore> {
  const reads = homeReads(hot.read)
  const writes = homeWrites(hot, reads)
  const bear = bearIn(hot)
  const readMemory = readTogether(hot.read)
  const identities = rememberIdentities(() => performance.now())
  let commits = 0

  const committed = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work
    commits++
    return result
  }

  /** A refusal means that what was remembered of this token no longer holds. */
  const heed = async <T extends { outcome: string }>(
    { tokenHash }: Identity,
    work: Promise<T>,
  ): Promise<T> => {
    const answer = await work
    if (answer.outcome === 'revoked' || answer.outcome === 'paused') identities.forget(tokenHash)
    return answer
  }

  const lookUp = async (tokenHash: string): Promise<Identity | undefined> => {
    const found = await reads.identify(tokenHash)
    if (found) identities.remember(found)
    return found
  }

  return {
    identify: (tokenHash) => identities.find(tokenHash) ?? lookUp(tokenHash),
    findBirth: reads.findBirth,
    countBirths: reads.countBirths,
    findAccount: reads.findAccount,
    bear: (birth, limits, now) => committed(bear(birth, limits, now)),
    readProfile: (identity) => heed(identity, reads.readProfile(identity)),
    async setStatus(identity, status, now) {
      const answer = await heed(identity, committed(writes.setStatus(identity, status, now)))
      identities.forgetAgent(identity.agentId)
      return answer
    },
    readMemory: (identity, key) => heed(identity, readMemory({ identity, key })),
    writeMemory: (identity, write, max, now) =>
      heed(identity, committed(writes.writeMemory(identity, write, max, now))),
    exportMemories: (identity) => heed(identity, openExport(exports, identity)),
    async rotateAgentToken(identity, newTokenHash) {
      const answer = await heed(
        identity,
        committed(writes.rotateAgentToken(identity, newTokenHash)),
      )
      identities.forgetAgent(identity.agentId)
      return answer
    },
    ...sessionVerbs(hot),
    leasePermits: permitVerbs(hot.write),
    checkWritable: (now) => committed(writes.checkWritable(now)),
    status: async () => ({ ...(await reads.totals()), commits }),
  }
}
