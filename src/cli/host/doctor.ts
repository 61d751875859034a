/** `agent-home doctor`: checks the installation and says what to do. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { addressOfService, type Config, loadConfig } from '../../config.ts'
import { ConfigError } from '../../environment.ts'
import { examine } from '../../store/maintenance.ts'
import type { Finding } from '../../store/port/check.ts'
import { processTimers } from '../../timers.ts'
import { VERSION } from '../../version.ts'
import { advice } from '../advice.ts'
import type { Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'

const program: Finding = { about: 'Agent Home', state: 'good', says: VERSION }

const runtime: Finding = { about: 'Node.js', state: 'good', says: process.version }

function settings(): Config | Finding {
  try {
    return loadConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return {
      about: 'configuration',
      state: 'wrong',
      says: error.message,
      advice: 'Correct the environment variables; docs/configuration.md lists them.',
    }
  }
}

/** In the words in which the start says it. */
function saysOf(error: unknown): string {
  const says = advice(error)?.message ?? `it cannot be read: ${(error as Error).message}`
  return says.replace(/\.$/, '')
}

async function data({ DATABASE_URL, DISK_RESERVE }: Config): Promise<Finding[]> {
  try {
    const now = Date.now()
    return await examine({
      databaseUrl: DATABASE_URL,
      diskReserve: DISK_RESERVE,
      now,
      timers: processTimers,
    })
  } catch (error) {
    return [{ about: 'database', state: 'wrong', says: saysOf(error) }]
  }
}

const PATIENCE_MS = 5_000

/** The service's own information; null: something else answers; undefined: nothing does. */
async function statusAt(url: string, path: string): Promise<string | null | undefined> {
  const late = new AbortController()
  const cancel = processTimers.after(PATIENCE_MS, () => late.abort())
  try {
    const response = await fetch(url + path, { signal: late.signal })
    const body: unknown = await response.json().catch(() => null)
    const { status, version, type, code } = Object(body) as Record<string, unknown>
    // Other services answer with a status or a code, too.
    if (typeof code === 'string') return type === `/problems/${code}` ? code : null
    return typeof status === 'string' && typeof version === 'string' ? status : null
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

/** Why a start could not listen; undefined: it could. */
async function listenFault({ HOST, PORT }: Config): Promise<string | undefined> {
  const server = createServer().listen(PORT, HOST)
  try {
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return saysOf(error)
  } finally {
    server.close()
  }
}

async function startable(config: Config, otherwise: Finding): Promise<Finding> {
  const fault = await listenFault(config)
  return fault === undefined ? otherwise : { about: 'service', state: 'wrong', says: fault }
}

async function service(config: Config, isUnheld: boolean): Promise<Finding> {
  const about = 'service'
  if (config.PORT === 0) {
    return startable(config, {
      about,
      state: 'odd',
      says: 'PORT is 0: the log shows the port in use',
    })
  }
  const url = addressOfService({ ...config, PUBLIC_URL: undefined })
  const ready = await statusAt(url, '/readyz')
  if (ready === 'ready') {
    if (!isUnheld) return { about, state: 'good', says: `it is ready at ${url}` }
    const says = `another Agent Home answers at ${url}: no service holds this database`
    const advice = 'Set PORT to another, or DATABASE_URL as that service has it.'
    return { about, state: 'wrong', says, advice }
  }
  if (ready === undefined) {
    const says = `no answer from ${url}`
    return startable(config, { about, state: 'odd', says, advice: 'Start it: agent-home.' })
  }
  const says =
    ready === null ? `something else answers at ${url}` : `it is not ready at ${url}: ${ready}`
  const advice = ready === null ? 'Set PORT to another.' : 'Its log says why.'
  return { about, state: 'wrong', says, advice }
}

const isLoopback = (host: string): boolean => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host)

function addresses({ HOST, PUBLIC_URL }: Config): Finding[] {
  if (PUBLIC_URL !== undefined || isLoopback(HOST)) return []
  const says = `HOST is ${HOST}, and PUBLIC_URL is not set`
  const advice = 'Put a proxy with TLS in front, and set PUBLIC_URL to its address.'
  return [{ about: 'address', state: 'odd', says, advice }]
}

function publicForm(given: string): Finding[] {
  const about = 'PUBLIC_URL'
  const url = new URL(given)
  const findings: Finding[] = []
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    const advice = 'Use https: without it, others can read tokens and passwords in transit.'
    findings.push({ about, state: 'wrong', says: `${given} is not encrypted`, advice })
  }
  return findings
}

async function publicUrl({ PUBLIC_URL: given }: Config): Promise<Finding[]> {
  if (given === undefined) return []
  const about = 'PUBLIC_URL'
  const wrong = publicForm(given)
  const alive = await statusAt(new URL(given).origin, '/healthz')
  if (alive === 'alive') return [...wrong, { about, state: 'good', says: `${given} leads here` }]
  if (alive === undefined) {
    const advice =
      'Check the name, the proxy and the certificate; it may still be reachable from elsewhere.'
    return [...wrong, { about, state: 'odd', says: `${given} cannot be reached from here`, advice }]
  }
  const says = `${given} leads to something else`
  return [...wrong, { about, state: 'wrong', says, advice: 'Correct PUBLIC_URL or the proxy.' }]
}

/** A database file that no service holds, or that is not there yet. */
const isFree = (found: readonly Finding[]): boolean =>
  found.some(({ about, state }) => (about === 'holder' || about === 'database') && state === 'odd')

async function findAll(): Promise<Finding[]> {
  const config = settings()
  if ('about' in config) return [program, runtime, config]
  const valid: Finding = { about: 'configuration', state: 'good', says: 'it is valid' }
  const found = await data(config)
  return [
    program,
    runtime,
    valid,
    ...found,
    await service(config, isFree(found)),
    ...addresses(config),
    ...(await publicUrl(config)),
  ]
}

const MARKS = { good: 'ok   ', odd: 'note ', wrong: 'WRONG' } as const

const lineOf = ({ about, state, says, advice }: Finding): string =>
  `${MARKS[state]}  ${about.padEnd(13)}  ${says}\n${advice ? `${' '.repeat(22)}${advice}\n` : ''}`

export async function doctorCommand(): Promise<Report> {
  const findings = await findAll()
  const wrong = findings.filter(({ state }) => state === 'wrong').length
  const end = wrong > 0 ? `${wrong} of ${findings.length} are wrong.\n` : 'Nothing is wrong.\n'
  return {
    value: { wrong, findings },
    text: findings.map(lineOf).join('') + end,
    exit: wrong > 0 ? EXIT.failed : EXIT.done,
  }
}
