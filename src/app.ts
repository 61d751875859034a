/** Composition: builds the app from the store, the clock, randomness and the log. */
import type { Logger } from 'pino'
import { describeService } from './api.ts'
import type { Config } from './config.ts'
import { createGateway } from './gateway/gateway.ts'
import { gatewayEndpoints } from './gateway/index.ts'
import { createHome } from './home/home.ts'
import { homeEndpoints } from './home/index.ts'
import { isOfHome, refusingAtHome } from './home/refusal.ts'
import { createConcurrencyLimit } from './http/concurrency-limit.ts'
import type { Site } from './http/server.ts'
import { mcpEndpoints } from './mcp/mcp.ts'
import { fetchingBy, type Reach } from './oauth/client-document.ts'
import { oauthEndpoints } from './oauth/index.ts'
import { createOAuth } from './oauth/oauth.ts'
import { operationsEndpoints } from './operations/index.ts'
import { createMeasures, type Measures } from './operations/metrics.ts'
import { createOperations } from './operations/operations.ts'
import { type Load, watchPresence } from './pipeline/admission-control.ts'
import { countAgentCalls } from './pipeline/agent-calls.ts'
import { explain, refuse, refuseUnparsed } from './pipeline/problem.ts'
import { createRequestLog, requestIds } from './pipeline/request-log.ts'
import { createRoutes, type Hooks } from './pipeline/routes.ts'
import { createSigning, keepSigningKey } from './pipeline/signing.ts'
import type { Store } from './store/port/store.ts'
import type { Timers } from './timers.ts'
import { consoleEndpoints, landing, roomEndpoints } from './web/index.ts'
import { createWeb } from './web/web.ts'

export interface Parts {
  readonly config: Config
  readonly store: Store
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Cryptographically strong bytes. */
  readonly random: (bytes: number) => Uint8Array
  readonly log: Logger
  readonly timers: Timers
  /** Defaults to this process's. */
  readonly load?: Load
  /** How metadata documents of clients are reached. */
  readonly reach: Reach
}

export interface App extends Site {
  /** From now on /readyz reports that the process is stopping. */
  readonly becomeUnready: () => void
  /** Streams end too. */
  readonly stopAccepting: () => void
  /** Stores what every backup is to hold from the first start on. */
  readonly prepare: () => Promise<unknown>
}

type NewRequestId = Hooks['newRequestId']

function hooksOf(parts: Parts, measures: Measures, newRequestId: NewRequestId): Hooks {
  const log = createRequestLog(parts.log, parts.timers)
  return {
    ...log,
    newRequestId,
    stopwatch: parts.timers.stopwatch,
    explain,
    refuse,
    observe(call, route, status, durationMs) {
      measures.observe(route, call.method, status, durationMs)
      log.observe(call, route, status, durationMs)
    },
  }
}

export function createApp(parts: Parts): App {
  const measures = createMeasures(() => parts.store.status())
  const newRequestId = requestIds(parts.random)
  const homePresence = watchPresence(parts.timers.stopwatch)
  const streams = createConcurrencyLimit({ perClient: parts.config.STREAMS_PER_ADDRESS })
  const signing = createSigning(parts.store, parts.clock)
  const home = createHome({ ...parts, signing, streams })
  const gateway = createGateway({ ...parts, streams, homeInUse: homePresence.recent })
  const calls = countAgentCalls(parts)
  const oauth = createOAuth(home, parts.store, fetchingBy(parts))
  const web = createWeb({ ...parts, home, oauth, gateway, calls, describe: describeService })
  const operations = createOperations({
    ...parts,
    measures,
    signing,
    origins: home.origins,
    describe: describeService,
    showProblem: web.showProblem,
    icon: web.icon,
  })

  const hooks = hooksOf(parts, measures, newRequestId)
  const forPeople: Hooks = { ...hooks, refuse: web.refuse }
  const atHome: Hooks = { ...hooks, refuse: refusingAtHome(home, refuse, homeEndpoints) }
  const routes = createRoutes((path) => (isOfHome(path) ? atHome : forPeople))
  routes.mount(
    [...homeEndpoints, ...mcpEndpoints],
    home,
    homePresence.observing(calls.observing(atHome)),
  )
  routes.mount(oauthEndpoints, oauth, hooks)
  routes.mount([landing], web.site, hooks)
  routes.mount(gatewayEndpoints, gateway, hooks)
  routes.mount(operationsEndpoints, operations, hooks)
  routes.mount(consoleEndpoints, web.workspace, forPeople)
  routes.mount(roomEndpoints, web.site, forPeople)
  return {
    serve: routes.serve,
    newRequestId,
    refuseUnparsed,
    timers: parts.timers,
    prepare: () => keepSigningKey(parts.store),
    becomeUnready: operations.becomeUnready,
    stopAccepting() {
      operations.becomeUnready()
      // Queued in the store before it is closed.
      void calls.flush()
      home.subscriptions.close()
      gateway.broadcast.close()
    },
  }
}
