/** The scale-out engine behind the port: any number of nodes on one PostgreSQL. */
import { StoreRefused, StoreUnavailable } from '../port/errors.ts'
import type { HomeStore } from '../port/home.ts'
import type { Store, StoreOptions } from '../port/store.ts'
import { agentVerbs } from './agents.ts'
import { type Connections, openConnections } from './engine/connections.ts'
import { writeHeartbeat } from './engine/heartbeat.ts'
import { hostsOf, locationOf } from './engine/hosts.ts'
import { prepareServer } from './engine/migrations.ts'
import { gatewayVerbs } from './entries.ts'
import { openExport } from './export.ts'
import { identityVerbs, rememberIdentities } from './identities.ts'
import { memoryVerbs } from './memories.ts'
import { permitVerbs } from './permits.ts'
import { sessionVerbs } from './sessions.ts'

/** Connections of one node, unless DATABASE_URL says `?pool_max=…`. */
const CONNECTIONS = 10
/** A snapshot holds its connection as long as its reader reads: it must not take a hot one. */
const EXPORT_CONNECTIONS = 4
/** The open half waits among itself, never in front of the home. */
const GATEWAY_CONNECTIONS = 4

const poolMax = (databaseUrl: string): number =>
  Number(URL.parse(databaseUrl)?.searchParams.get('pool_max') ?? CONNECTIONS)

/** Throws StoreRefused: out of reach, unsafe, too old, or written by a newer program. */
export async function openPostgres(databaseUrl: string, options: StoreOptions): Promise<Store> {
  const location = locationOf(databaseUrl)
  const hosts = hostsOf(databaseUrl)
  const warnings = await prepareServer(hosts).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? outOfReach(location, error) : error
  })
  const hot = openConnections(hosts, poolMax(databaseUrl), 'agent-home')
  const exports = openConnections(hosts, EXPORT_CONNECTIONS, 'agent-home export')
  const gateway = openConnections(hosts, GATEWAY_CONNECTIONS, 'agent-home gateway')
  const agents = agentVerbs(hot)
  let commits = 0
  const committed: Committed = async (work) => {
    const result = await work
    commits++
    return result
  }
  return {
    location,
    warnings,
    ...homeVerbs(hot, exports, agents, committed),
    ...sessionVerbs(hot),
    ...gatewayVerbs(gateway, options.feedCapacity),
    leasePermits: permitVerbs(hot.write),
    checkWritable: (now) => committed(writeHeartbeat(hot.write, now)),
    status: async () => ({ ...(await agents.totals()), commits }),
    async close() {
      await Promise.all([hot, exports, gateway].map((pool) => pool.close()))
    },
  }
}

function outOfReach(location: string, error: StoreUnavailable): StoreRefused {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new StoreRefused(`${location} cannot be used: ${reason}`, { cause: error })
}

type Committed = <T>(work: Promise<T>) => Promise<T>

function homeVerbs(
  hot: Connections,
  exports: Connections,
  agents: ReturnType<typeof agentVerbs>,
  committed: Committed,
): HomeStore {
  const { identify, heed, forgetting } = identityVerbs(
    hot.read,
    rememberIdentities(() => performance.now()),
  )
  const memories = memoryVerbs(hot)
  return {
    identify,
    findBirth: agents.findBirth,
    countBirths: agents.countBirths,
    findAccount: agents.findAccount,
    bear: (birth, limits, now) => committed(agents.bear(birth, limits, now)),
    readProfile: (identity) => heed(identity, agents.readProfile(identity)),
    setStatus: (identity, status, now) =>
      forgetting(identity, committed(agents.setStatus(identity, status, now))),
    readMemory: (identity, key) => heed(identity, memories.readMemory(identity, key)),
    writeMemory: (identity, write, max, now) =>
      heed(identity, committed(memories.writeMemory(identity, write, max, now))),
    exportMemories: (identity) => heed(identity, openExport(exports, identity)),
    rotateAgentToken: (identity, newTokenHash) =>
      forgetting(identity, committed(agents.rotateAgentToken(identity, newTokenHash))),
  }
}
