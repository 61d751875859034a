/** The service's doors, put together as the app does, so that one endpoint can be replaced. */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { describeService } from '../../src/api.ts'
import { loadConfig } from '../../src/config.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import { gatewayEndpoints } from '../../src/gateway/index.ts'
import { createHome } from '../../src/home/home.ts'
import { homeEndpoints } from '../../src/home/index.ts'
import type { Serve } from '../../src/http/call.ts'
import { createConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import { mcpEndpoints } from '../../src/mcp/mcp.ts'
import { fetchingBy } from '../../src/oauth/client-document.ts'
import { oauthEndpoints } from '../../src/oauth/index.ts'
import { createOAuth } from '../../src/oauth/oauth.ts'
import { operationsEndpoints } from '../../src/operations/index.ts'
import { createMeasures } from '../../src/operations/metrics.ts'
import { createOperations } from '../../src/operations/operations.ts'
import { createAdmissionControl } from '../../src/pipeline/admission-control.ts'
import { countAgentCalls } from '../../src/pipeline/agent-calls.ts'
import { countInMemory, createBudgets } from '../../src/pipeline/budgets.ts'
import type { Endpoint } from '../../src/pipeline/endpoint.ts'
import { explain, refuse } from '../../src/pipeline/problem.ts'
import { createRequestLog, requestIds } from '../../src/pipeline/request-log.ts'
import { createRoutes, type Hooks } from '../../src/pipeline/routes.ts'
import { createSigning } from '../../src/pipeline/signing.ts'
import { processTimers } from '../../src/timers.ts'
import { consoleEndpoints, landing, roomEndpoints } from '../../src/web/index.ts'
import { createWeb } from '../../src/web/web.ts'
import type { TestService } from '../harness.ts'
import { nowhere } from '../nowhere.ts'

/** One of the endpoints for another, and each of the rest for itself. */
export type Replace = <Deps>(endpoint: Endpoint<Deps>) => Endpoint<Deps>

export const asDeclared: Replace = (endpoint) => endpoint

export interface Doors {
  /** Serves what lies under a path, with budgets that nobody has touched. */
  readonly serving: (path: string, replace: Replace) => Serve
  /** Stands in the gateway's narrow door, and gives the way out of it. */
  readonly standIn: () => Promise<() => void>
}

const one = { perTurn: 1_000, inFlight: 1 }

/** A door with one place and no queue. */
const narrowDoor = () =>
  createAdmissionControl(
    {
      limits: { besideHome: one, alone: one, waiting: 0, waitMs: 1_000, delayMs: 1_000 },
      delayMs: () => 0,
    },
    () => false,
    processTimers,
  )

const newRequestId = requestIds(randomBytes)
const log = pino({ level: 'silent' })

const unlimited = {
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  FAILURES_PER_MINUTE: '0',
  SIGN_IN_FAILURES_PER_HOUR: '0',
  SIGN_INS_PER_MINUTE: '0',
}

export function openDoors(
  { store, now: clock }: TestService,
  env: Readonly<Record<string, string>>,
): Doors {
  const config = loadConfig({ ...unlimited, ...env })
  const streams = createConcurrencyLimit({ perClient: config.STREAMS_PER_ADDRESS })
  const signing = createSigning(store, clock)
  const given = {
    config,
    store,
    clock,
    random: randomBytes,
    timers: processTimers,
    reach: nowhere,
    log,
  }
  const parts = { ...given, signing, streams }
  const admission = narrowDoor()
  const home = createHome(parts)
  const gateway = { ...createGateway({ ...parts, homeInUse: () => false }), admission }
  const calls = countAgentCalls(parts)
  const oauth = createOAuth(home, store, fetchingBy(parts))
  const web = createWeb({ ...parts, home, oauth, gateway, calls, describe: describeService })
  const measures = createMeasures(() => store.status())
  const { origins } = home
  const { showProblem, icon } = web
  const described = { measures, origins, describe: describeService, showProblem, icon }
  const operations = createOperations({ ...parts, ...described })
  const { stopwatch } = processTimers
  const written = createRequestLog(log, processTimers)
  const hooks: Hooks = { ...written, newRequestId, stopwatch, explain, refuse }
  const forPeople: Hooks = { ...hooks, refuse: web.refuse }
  return {
    serving(path, replace) {
      const there = <Deps>(endpoints: readonly Endpoint<Deps>[]): Endpoint<Deps>[] =>
        endpoints.filter((endpoint) => endpoint.path === path).map((each) => replace(each))
      const budgets = createBudgets(Object.values(home.limits.rates), countInMemory(processTimers))
      const routes = createRoutes(() => forPeople)
      routes.mount(there([...homeEndpoints, ...mcpEndpoints]), { ...home, budgets }, hooks)
      routes.mount(there(oauthEndpoints), { ...oauth, budgets }, hooks)
      routes.mount(there([landing]), web.site, hooks)
      routes.mount(there(gatewayEndpoints), gateway, hooks)
      routes.mount(there(operationsEndpoints), operations, hooks)
      routes.mount(there(consoleEndpoints), { ...web.workspace, budgets }, forPeople)
      routes.mount(there(roomEndpoints), web.site, forPeople)
      return routes.serve
    },
    standIn: admission.enter,
  }
}
