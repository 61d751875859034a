/** The home that a command addresses, and the exit codes of its errors. */
import {
  AgentHome,
  type AgentHomeOptions,
  type Checked,
  HomeError,
  ImportConflict,
  OutcomeUnknown,
  type ProfileResult,
  VersionConflict,
} from 'agent-home-client'
import { type ClientConfig, loadClientConfig } from '../../environment.ts'
import { processTimers } from '../../timers.ts'
import type { Arguments, Given, Notice } from '../command.ts'
import { EXIT, type Exit } from '../exit-codes.ts'
import { Failure, missing, usage } from '../failure.ts'
import { headsFor, isDifferentHistory } from './heads.ts'
import { type Profile, profileOf } from './profiles.ts'
import { sayingWaits, withSeconds } from './waiting.ts'

export interface Connection {
  readonly url: string
  readonly token: string
  /** The profile that contained the token. */
  readonly profile: string | undefined
  /** What this run is called; undefined: by the environment, if at all. */
  readonly run?: string | undefined
  readonly notice: Notice
}

export const DEFAULT_PROFILE = 'default'

const DEFAULT_URL = 'http://127.0.0.1:8787'

const BY_STATUS: Readonly<Record<number, Exit>> = {
  ...{ 0: EXIT.later, 429: EXIT.later, 503: EXIT.later },
  ...{ 400: EXIT.usage, 413: EXIT.usage, 409: EXIT.conflict },
  ...{ 404: EXIT.missing, 410: EXIT.missing, 401: EXIT.refused, 403: EXIT.refused },
}

const exitOf = (error: HomeError): Exit =>
  error instanceof OutcomeUnknown ? EXIT.failed : (BY_STATUS[error.status] ?? EXIT.failed)

const nextOf = (error: HomeError): string =>
  error instanceof VersionConflict && error.currentVersion > 0
    ? `\nIt is at version ${error.currentVersion}: read it, merge your text with it, and repeat with --expect ${error.currentVersion}.`
    : ''

const factsOf = (error: HomeError) => ({
  code: error.code,
  ...(error.retryAfter !== undefined && { retryAfter: error.retryAfter }),
  ...(error instanceof VersionConflict && { currentVersion: error.currentVersion }),
  ...(error instanceof ImportConflict && { conflicts: error.conflicts }),
})

/** Runs the request and turns the home's errors into failures. */
export async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof HomeError)) throw error
    const message = withSeconds(error) + nextOf(error)
    throw new Failure(exitOf(error), message, { cause: error, facts: factsOf(error) })
  }
}

export const urlOf = (
  { options }: Arguments,
  config: ClientConfig = loadClientConfig(),
  profile?: Profile,
): string => options.url ?? config.AGENT_HOME_URL ?? profile?.url ?? DEFAULT_URL

/** A profile named on the command line must exist, and takes precedence over the environment. */
function namedProfile(name: string): Profile {
  const found = profileOf(name)
  if (!found)
    throw missing(
      `There is no profile ${name}. agent-home birth --save ${name} creates one; agent-home login URL --profile ${name} saves a token that you have.`,
    )
  return found
}

const tokenIn = (profile: Profile | undefined, who: 'agent' | 'operator'): string | undefined =>
  who === 'operator' ? (profile?.operator_token ?? profile?.token) : profile?.token

const NO_TOKEN =
  'No token: set AGENT_HOME_TOKEN, or save a token that you have: agent-home login URL. To create an agent: agent-home birth --save default.'

function fromProfile(given: Given, name: string, who: 'agent' | 'operator'): Connection {
  const profile = namedProfile(name)
  const { url = profile.url, token = tokenIn(profile, who) ?? '' } = given.options
  const { notice } = given
  const saved = given.options.token === undefined ? name : undefined
  return { url, token, profile: saved, run: given.options.run, notice }
}

/**
 * Options take precedence over the environment, and that over the profile. `who`: which token is
 * needed.
 */
export function connectionOf(given: Given, who: 'agent' | 'operator' = 'agent'): Connection {
  if (given.options.profile !== undefined) return fromProfile(given, given.options.profile, who)
  const config = loadClientConfig()
  const set = given.options.token ?? config.AGENT_HOME_TOKEN
  const name = config.AGENT_HOME_PROFILE ?? DEFAULT_PROFILE
  const profile = set === undefined ? profileOf(name) : undefined
  const token = set ?? tokenIn(profile, who)
  if (token === undefined) throw usage(NO_TOKEN)
  const { notice } = given
  const url = urlOf(given, config, profile)
  return { url, token, profile: profile && name, run: given.options.run, notice }
}

const NO_HOME = 'This is not an answer from an Agent Home. Is the address right?'

/** Another service on the port may answer with JSON of its own. */
export async function profileAt(home: AgentHome): Promise<ProfileResult> {
  const found = await home.profile()
  if (typeof found.profile !== 'object') throw new Failure(EXIT.failed, NO_HOME)
  return found
}

/** For what nobody waits for: a home that is away is not asked again. */
export const ONCE = { retries: 0, timeout: 5_000 }

export const homeAt = (
  { url, token, run, notice }: Omit<Connection, 'profile'>,
  options: Omit<AgentHomeOptions, 'url' | 'token'> = {},
): AgentHome => {
  try {
    return new AgentHome({
      ...sayingWaits(url, notice, processTimers),
      ...options,
      url,
      token,
      run,
    })
  } catch (error) {
    if (error instanceof TypeError) throw usage(error.message)
    throw error
  }
}

/** Checks the head that is remembered, and remembers the one that is there. */
export const checkOnce = async (connection: Connection): Promise<Checked> =>
  homeAt(connection, { ...ONCE, heads: headsFor(connection) }).check()

/** Says so if the history is not the one that was remembered. */
async function rememberHead(connection: Connection): Promise<void> {
  try {
    await checkOnce(connection)
  } catch (error) {
    // What cannot be checked now (a paused agent, a key with a prefix) fails no command.
    if (isDifferentHistory(error)) {
      connection.notice(`${error.detail} See: agent-home check`, { code: error.code })
    } else if (error instanceof Failure) connection.notice(error.message, error.facts)
  }
}

/** Throws Failure with the exit code of the error. */
export async function atHome<T>(
  given: Given,
  work: (home: AgentHome) => Promise<T>,
  who?: 'agent' | 'operator',
): Promise<T> {
  const connection = connectionOf(given, who)
  const result = await refusing(work(homeAt(connection)))
  await rememberHead(connection)
  return result
}
