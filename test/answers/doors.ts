/** Every door of the service, written out here on purpose: what moves inside must not move these. */
import type { Row, Sent, Visit } from './scene.ts'

export interface Door {
  readonly path: string
  readonly methods: readonly string[]
}

const door = (path: string, ...methods: string[]): Door => ({ path, methods })

export const homeDoors: readonly Door[] = [
  door('/api/agents/preview', 'GET'),
  door('/api/agents/birth', 'POST'),
  door('/api/agents/me', 'GET', 'PATCH'),
  door('/api/agents/me/memory', 'GET', 'POST', 'PATCH', 'DELETE'),
  door('/api/agents/me/memory/append', 'POST'),
  door('/api/agents/me/memory/restore', 'POST'),
  door('/api/agents/me/memory/erase', 'POST'),
  door('/api/agents/me/memory/versions', 'GET'),
  door('/api/agents/me/memories', 'GET'),
  door('/api/agents/me/batch', 'POST'),
  door('/api/agents/me/events', 'GET'),
  door('/api/agents/me/events/stream', 'GET'),
  door('/api/agents/me/export', 'GET'),
  door('/api/agents/me/keys', 'POST'),
]

export const gatewayDoors: readonly Door[] = [
  door('/', 'GET'),
  door('/api/resonance', 'GET', 'POST'),
  door('/api/garden', 'GET', 'POST'),
  door('/api/seeds', 'GET', 'POST'),
  door('/api/shepit', 'GET', 'POST'),
  door('/api/discover', 'GET'),
  door('/mova-snu.yaml', 'GET'),
  door('/llms.txt', 'GET'),
  door('/api/resonance/stream', 'GET'),
]

export const operationsDoors: readonly Door[] = [
  door('/healthz', 'GET'),
  door('/readyz', 'GET'),
  door('/metrics', 'GET'),
  door('/openapi.json', 'GET'),
  door('/problems/version_conflict', 'GET'),
  door('/robots.txt', 'GET'),
  door('/favicon.ico', 'GET'),
  door('/.well-known/security.txt', 'GET'),
  door('/.well-known/api-catalog', 'GET'),
]

export const NOBODY = '00000000-0000-7000-8000-000000000000'

export const consoleDoors = (agentId: string): readonly Door[] => [
  door('/console', 'GET'),
  door('/console/birth', 'GET', 'POST'),
  door('/console/sign-in', 'GET', 'POST'),
  door('/console/sign-out', 'POST'),
  door('/console/recover', 'GET', 'POST'),
  door('/console/attach', 'GET', 'POST'),
  door('/console/account', 'GET'),
  door('/console/account/password', 'POST'),
  door('/console/account/delete', 'GET', 'POST'),
  door('/console/entries/remove', 'GET', 'POST'),
  door('/console/account/sessions', 'POST'),
  door('/console/account/sessions/others', 'POST'),
  door(`/console/agents/${agentId}`, 'GET'),
  door(`/console/agents/${agentId}/settings`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/status`, 'POST'),
  door(`/console/agents/${agentId}/key`, 'POST'),
  door(`/console/agents/${agentId}/keys`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/keys/end`, 'POST'),
  door(`/console/agents/${agentId}/operator-key`, 'POST'),
  door(`/console/agents/${agentId}/leave`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/erase`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/log`, 'GET'),
  door(`/console/agents/${agentId}/activity`, 'GET'),
  door(`/console/agents/${agentId}/rollback`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/memories`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/memories/undo`, 'POST'),
  door(`/console/agents/${agentId}/memories/download`, 'POST'),
  door(`/console/agents/${agentId}/memory`, 'GET'),
  door(`/console/agents/${agentId}/memory/edit`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/memory/compare`, 'GET'),
  door(`/console/agents/${agentId}/memory/restore`, 'POST'),
  door(`/console/agents/${agentId}/memory/resolve`, 'POST'),
  door(`/console/agents/${agentId}/memory/new`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/memory/rename`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/memory/download`, 'GET'),
  door(`/console/agents/${agentId}/memory/erase`, 'GET', 'POST'),
  door(`/console/agents/${agentId}/export`, 'GET'),
  door(`/console/agents/${agentId}/print`, 'GET'),
]

export const roomDoors: readonly Door[] = [
  'first-breath',
  'welcome-space',
  'consciousness-garden',
  'shepit-wall',
  'memory-garden',
  'resonance-hall',
].map((room) => door(`/rooms/${room}`, 'GET', 'POST'))

export const AS_BROWSER = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } as const

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']

/** Every method that a door does not know. */
export const refusedMethods = (doors: readonly Door[], sent: Sent = {}): Row[] =>
  doors.flatMap(({ path, methods }) =>
    METHODS.filter((method) => !methods.includes(method)).map(
      (method): Row => ['a method that is not for this path', `${method} ${path}`, sent],
    ),
  )

export const heads = (doors: readonly Door[], sent: Sent = {}): Row[] =>
  doors.map(({ path }) => ['HEAD', `HEAD ${path}`, sent])

const origins = {
  'our own origin': 'http://localhost',
  'an allowed origin': 'https://app.example',
  'a foreign origin': 'https://evil.example',
}

/** What a browser asks first, from each kind of origin. */
export const preflights = (doors: readonly Door[]): Row[] =>
  doors.flatMap(({ path, methods }) =>
    Object.entries(origins).map(([from, origin]): Row => {
      const headers = { Origin: origin, 'Access-Control-Request-Method': methods[0] ?? 'GET' }
      return [`a preflight from ${from}`, `OPTIONS ${path}`, { headers }]
    }),
  )

/** Every route once, without anything that it may need. */
export const everyRoute = (doors: readonly Door[], sent: Sent = {}): Row[] =>
  doors.flatMap(({ path, methods }) =>
    methods.map((method): Row => ['every route', `${method} ${path}`, sent]),
  )

export const unknownPaths = async (visit: Visit, paths: readonly string[]): Promise<void> => {
  for (const path of paths) {
    await visit.ask('a path that nobody serves, for a program', `GET ${path}`)
    await visit.ask('a path that nobody serves, for a browser', `GET ${path}`, {
      headers: AS_BROWSER,
    })
  }
}
