/**
 * Prometheus metrics, and GET /metrics for the addresses in METRICS_FROM. Labels are route names and
 * statuses, never an agent, a key or an address.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { z } from 'zod'
import { problem } from '../errors.ts'
import { isForwarded, peerIsListed } from '../http/address.ts'
import { answer } from '../http/call.ts'
import { endpoint } from '../pipeline/endpoint.ts'
import type { Guard } from '../pipeline/guard.ts'
import type { StoreStatus } from '../store/port/store.ts'
import { VERSION } from '../version.ts'
import { type Operations, tag } from './operations.ts'

const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** Looking up a label's series costs more than everything else in a measurement. */
function remember<K, T>(create: (key: K) => T): (key: K) => T {
  const known = new Map<K, T>()
  return (key) => {
    const found = known.get(key) ?? create(key)
    known.set(key, found)
    return found
  }
}

function tellVersion(registers: Registry[]): void {
  const build = new Gauge({
    name: 'agent_home_build_info',
    help: 'Always 1; the label is the version of the program.',
    labelNames: ['version'],
    registers,
  })
  build.labels(VERSION).set(1)
}

export function createMeasures(totals: () => Promise<StoreStatus>) {
  const registers = [new Registry()]
  const [registry] = registers as [Registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered, by route, method and status.',
    labelNames: ['route', 'method', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer, by route.',
    labelNames: ['route'],
    buckets: BUCKETS_SECONDS,
    registers,
  })
  tellVersion(registers)
  const agents = new Gauge({ name: 'agent_home_agents', help: 'Agents stored.', registers })
  const memories = new Gauge({ name: 'agent_home_memories', help: 'Memories stored.', registers })
  const commits = new Gauge({
    name: 'agent_home_commits',
    help: 'Durable commits since the process started.',
    registers,
  })
  // Registered once the value is known; otherwise it would be 0.
  const free = new Gauge({
    name: 'agent_home_free_bytes',
    help: 'Left on the file system of the data, where the engine sees it.',
    registers: [],
  })
  const seriesOf = remember((route: string) => ({
    timed: durations.labels(route),
    counted: remember((method: string) =>
      remember((status: number) => requests.labels(route, method, String(status))),
    ),
  }))
  return {
    observe(route: string, method: string, status: number, durationMs: number): void {
      const { timed, counted } = seriesOf(route)
      counted(method)(status).inc()
      timed.observe(durationMs / 1000)
    },
    /** The text exposition, and its content type. */
    async render(): Promise<{ text: string; contentType: string }> {
      const now = await totals()
      agents.set(now.agents)
      memories.set(now.memories)
      commits.set(now.commits)
      if (now.freeBytes !== undefined) {
        free.set(now.freeBytes)
        registry.registerMetric(free)
      }
      return { text: await registry.metrics(), contentType: registry.contentType }
    },
  }
}

export type Measures = ReturnType<typeof createMeasures>

const fromListed: Guard<Pick<Operations, 'metricsFrom' | 'origins'>, object, void> = {
  name: 'from-listed',
  errors: ['address_denied'],
  run({ call }, { metricsFrom, origins }) {
    const isDirect = !isForwarded(call) && origins.isOwnHost(call.host)
    if (!isDirect || !peerIsListed(metricsFrom, call)) throw problem('address_denied')
  },
}

export const metrics = endpoint({
  operationId: 'metrics',
  method: 'GET',
  path: '/metrics',
  docs: { tag, summary: 'Prometheus metrics, for the addresses in METRICS_FROM' },
  guards: [fromListed],
  answers: {
    200: { description: 'Text exposition.', schema: z.string(), mediaType: 'text/plain' },
  },
  errors: ['storage_unavailable'],
  async handle({ call }, { measures }: Operations) {
    const { text, contentType } = await measures.render()
    return answer(call, 200, text, contentType)
  },
})
