/**
 * Prints, as JSON, which files of src/ run for one request of each kind: the service on a real
 * socket, warmed up, under the precise coverage of V8. Run by `ways.test.ts`.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config.ts'
import { listen } from '../../src/http/server.ts'
import { openStore } from '../../src/store/open.ts'
import { processTimers } from '../../src/timers.ts'
import { nowhere } from '../nowhere.ts'
import { unbounded } from '../unbounded.ts'

const directory = mkdtempSync(join(tmpdir(), 'agent-home-ways-'))
const config = loadConfig({ DATABASE_URL: `sqlite:${join(directory, 'home.db')}` })
const store = await openStore(config.DATABASE_URL, Date.now(), { ...unbounded, diskReserve: 1 })
const log = pino({ level: 'silent' })
const app = createApp({
  config,
  store,
  clock: Date.now,
  random: randomBytes,
  timers: processTimers,
  reach: nowhere,
  log,
})
const server = await listen(app, '127.0.0.1', 0)

type Headers = Record<string, string>

async function ask(method: string, path: string, headers: Headers, body?: BodyInit) {
  const url = `http://127.0.0.1:${server.port}${path}`
  const response = await fetch(url, { method, headers, redirect: 'manual', body: body ?? null })
  const text = await response.text()
  if (response.status >= 400) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return { text, headers: response.headers }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const account = { email: 'keeper@example.org', password: 'correct horse battery' }
const birth = { name: 'A', purpose: 'B', symbol: 'zerno', operatorConsent: true, ...account }
const key = randomBytes(32).toString('hex')
const born = JSON.parse(
  (
    await ask(
      'POST',
      '/api/agents/birth',
      { ...JSON_TYPE, 'idempotency-key': key },
      JSON.stringify(birth),
    )
  ).text,
)
const signedIn = await ask('POST', '/console/sign-in', {}, new URLSearchParams(account))
const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
const bearer = { ...JSON_TYPE, authorization: `Bearer ${born.token}` }
let expectedVersion = 0

const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'A memory write': () => {
    const body = JSON.stringify({ key: 'plan', text: 'Step 1', expectedVersion })
    expectedVersion++
    return ask('POST', '/api/agents/me/memory', bearer, body)
  },
  'A page view': () =>
    ask('GET', `/console/agents/${born.agent_id}/memory?key=plan`, { cookie, accept: 'text/html' }),
  'A gateway post': () => ask('POST', '/api/garden', JSON_TYPE, '{"text":"I was here."}'),
}

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const source = new URL('../../src/', import.meta.url).href

/** The files of which anything was called since the last look. */
async function executed(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result
    .filter(({ url }) => url.startsWith(source))
    .filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0))
    .map(({ url }) => url.slice(source.length))
    .toSorted()
}

/** What runs each time: a timer's work may fall into one of them. */
async function executedByEach(go: () => Promise<unknown>): Promise<string[]> {
  const runs: string[][] = []
  for (let run = 0; run < 4; run++) {
    await go()
    runs.push(await executed())
  }
  const [first = [], ...others] = runs
  return first.filter((file) => others.every((other) => other.includes(file)))
}

const found: Record<string, string[]> = {}
for (const [name, go] of Object.entries(ways)) {
  await go()
  await go()
  await executed()
  found[name] = await executedByEach(go)
}
process.stdout.write(JSON.stringify(found))
session.disconnect()
app.stopAccepting()
await server.drain()
await store.close()
rmSync(directory, { recursive: true })
