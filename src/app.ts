/** Composition: the store, the clock, randomness and the log become the app. */
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { Problem, problem } from './errors.ts'
import { createGateway } from './gateway/gateway.ts'
import { gatewayEndpoints } from './gateway/index.ts'
import type { Home } from './home/home.ts'
import { homeEndpoints } from './home/index.ts'
import { homeLimits } from './home/limits.ts'
import { createPasswords } from './home/passwords.ts'
import { prefersHtml } from './http/negotiate.ts'
import { type Operations, operationsEndpoints } from './operations/index.ts'
import { createMetrics } from './operations/measures.ts'
import { type BudgetPolicy, type Budgets, memoryBudgets } from './pipeline/budgets.ts'
import { createRoutes, type Endpoint, type Serve, type Traffic } from './pipeline/endpoint.ts'
import { openPreflight } from './pipeline/guards/open-to-all.ts'
import { preflight } from './pipeline/guards/origin.ts'
import { logFailure, logRequest } from './pipeline/observe.ts'
import { describeApi } from './pipeline/openapi.ts'
import { refuse } from './pipeline/problem.ts'
import { sharedBudgets } from './pipeline/shared-budgets.ts'
import { OutcomeUnknown, type Store, StoreOverloaded, StoreUnavailable } from './store/port.ts'
import type { Console } from './web/console/console.ts'
import { consoleRoutes, roomRoutes } from './web/index.ts'
import { refuseWithPage, showProblem } from './web/layout/problem-page.ts'
import { showLanding } from './web/rooms/landing.ts'
import { countedNowAndThen, type Hall } from './web/rooms/site.ts'

export interface Parts {
  readonly config: Config
  readonly store: Store
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Cryptographically strong bytes. */
  readonly random: (bytes: number) => Uint8Array
  readonly log: Logger
}

export interface App {
  readonly serve: Serve
  readonly newRequestId: () => string
  /** From now on /readyz says that the process is stopping; streams end. */
  readonly stopAccepting: () => void
}

/** Unique without asking for randomness on every request. */
function requestIds(random: Parts['random']): () => string {
  const prefix = Buffer.from(random(6)).toString('hex')
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}

/** How long a half of the service counts as in use after a request. */
const IN_USE_MS = 1_000

function presence(stopwatch: () => number) {
  let lastAt = Number.NEGATIVE_INFINITY
  return {
    note() {
      lastAt = stopwatch()
    },
    recent: () => stopwatch() - lastAt < IN_USE_MS,
  }
}

function explain(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof StoreOverloaded) return problem('overloaded', { cause: error })
  if (error instanceof OutcomeUnknown) return problem('outcome_unknown', { cause: error })
  if (error instanceof StoreUnavailable) return problem('storage_unavailable', { cause: error })
  return problem('internal', { cause: error })
}

const budgetsOf = (store: Store, policies: readonly BudgetPolicy[]): Budgets =>
  store.leasePermits
    ? sharedBudgets(policies, store.leasePermits, () => performance.now())
    : memoryBudgets(policies)

function homeOf({ config, store, clock, random }: Parts): Home {
  const limits = homeLimits(config)
  return {
    store,
    limits,
    clock,
    random,
    budgets: budgetsOf(store, Object.values(limits.rates)),
    passwords: createPasswords(random),
    enabled: config.HOME_ENABLED,
    birthsEnabled: config.BIRTHS_ENABLED,
    origins: { publicUrl: config.PUBLIC_URL, allowed: config.ALLOWED_ORIGINS },
    trustedProxies: config.TRUSTED_PROXIES,
  }
}

const describe = (config: Config, endpoints: readonly Endpoint<never>[]): string =>
  JSON.stringify(
    describeApi(endpoints, {
      title: 'Agent Home and Resonance Gateway',
      version: '1.0.0',
      description:
        'A private home where an AI agent keeps named, versioned text memories under compare-and-swap, and an open gateway where any AI makes first contact and leaves traces.',
      serverUrl: config.PUBLIC_URL ?? '/',
      tags: [
        { name: 'Agent home', description: 'Profile, memories, export and keys.' },
        {
          name: 'Resonance gateway',
          description: 'Open to every AI: first contact, traces, seeds, whispers, the language.',
        },
        { name: 'Operations', description: 'For those who run the service.' },
      ],
      securitySchemes: {
        agentKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'The agent token (aha_…): memory access, profile and export.',
        },
        operatorKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'The operator token (aho_…): the same, and status and key rotation.',
        },
      },
    }),
  )

export function createApp(parts: Parts): App {
  const { config, store, clock, random, log } = parts
  const metrics = createMetrics(() => store.status())
  const traffic: Traffic = {
    newRequestId: requestIds(random),
    stopwatch: () => performance.now(),
    explain,
    observe(call, route, status, durationMs) {
      metrics.observe(route, call.method, status, durationMs)
      logRequest(log, call, route, status, durationMs)
    },
    refuse,
    failed: (call, error) => logFailure(log, call, error),
  }
  const secure = config.PUBLIC_URL?.startsWith('https:') ?? false
  const forPeople: Traffic = {
    ...traffic,
    refuse: (call, refusal) =>
      prefersHtml(call) ? refuseWithPage(call, refusal, secure) : refuse(call, refusal),
  }
  let accepting = true
  let openapi: string | undefined
  const operations: Operations = {
    accepting: () => accepting,
    checkWritable: () => store.checkWritable(clock()),
    metrics,
    metricsFrom: config.METRICS_FROM,
    problemPage: (call, code) => showProblem(call, code, secure),
    openapi: () => {
      openapi ??= describe(config, [...homeEndpoints, ...gatewayEndpoints, ...operationsEndpoints])
      return openapi
    },
  }
  const routes = createRoutes(forPeople)
  const home = homeOf(parts)
  const homeInUse = presence(traffic.stopwatch)
  const homeTraffic: Traffic = {
    ...traffic,
    observe(...request) {
      homeInUse.note()
      traffic.observe(...request)
    },
  }
  const gateway = createGateway({
    ...parts,
    landing: (call) => showLanding(call, hall),
    homeIsAsked: homeInUse.recent,
  })
  const hall: Hall = {
    gateway,
    secure,
    origins: home.origins,
    publicUrl: config.PUBLIC_URL,
    totals: countedNowAndThen(() => store.status(), clock),
  }
  routes.mount(homeEndpoints, home, homeTraffic, preflight(home.origins))
  routes.mount(gatewayEndpoints, gateway, traffic, openPreflight)
  routes.mount(operationsEndpoints, operations, traffic)
  const console: Console = { home, store, secure }
  routes.mount(consoleRoutes, console, forPeople)
  routes.mount(roomRoutes, hall, forPeople)
  return {
    serve: routes.serve,
    newRequestId: traffic.newRequestId,
    stopAccepting: () => {
      accepting = false
      gateway.arrivals.close()
    },
  }
}
