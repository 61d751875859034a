/** The profile file with addresses and tokens, readable only for its owner. */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { type ClientConfig, ConfigError, loadClientConfig } from '../../environment.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { writeJson } from '../temporary.ts'

export interface Profile {
  readonly url: string
  readonly token: string
  readonly operator_token?: string
  /** Of the keys that its programs use. */
  readonly prefix?: string
}

const FIELDS = new Set(['url', 'token', 'operator_token', 'prefix'])

const OF_OTHERS = 0o077

const NO_HOME =
  'There is no home directory for profiles: set HOME or XDG_CONFIG_HOME to a directory.'

/** Throws ConfigError where the system knows none: HOME is empty, or the user has no entry. */
function configDirectory(): string {
  try {
    const home = homedir()
    if (isAbsolute(home)) return join(home, '.config')
  } catch {}
  throw new ConfigError(NO_HOME)
}

export const profilesFile = ({ XDG_CONFIG_HOME }: ClientConfig = loadClientConfig()): string =>
  join(XDG_CONFIG_HOME ?? configDirectory(), 'agent-home', 'profiles.json')

/** A path in the directory of the profile file. */
export const besideProfiles = (...names: readonly string[]): string =>
  join(dirname(profilesFile()), ...names)

/** An address as it is compared and saved. */
export const withoutSlash = (address: string): string => address.replace(/\/+$/, '')

/** Tokens that other users can read are not safe. */
function refuseOpen(path: string, mode: number): void {
  if (!process.getuid || (mode & OF_OTHERS) === 0) return
  throw new Failure(
    EXIT.refused,
    `${path} holds tokens, and other users can read it. Run: chmod 600 '${path}'. If others can log in here, rotate the tokens: agent-home rotate.`,
  )
}

const unreadable = (path: string, why: string): Failure =>
  new Failure(EXIT.failed, `${path} is not a profile file: ${why}`)

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Where and what, by hand: a library of schemas takes longer to load than most commands take. */
function profileFault(value: unknown): string | undefined {
  if (!isObject(value)) return ': must be an object'
  const fields = Object.entries({ url: undefined, token: undefined, ...value })
  for (const [name, field] of fields) {
    if (!FIELDS.has(name)) return `.${name}: is not a field of a profile`
    if (typeof field !== 'string') return `.${name}: must be a string`
  }
  return undefined
}

function profilesIn(path: string, value: unknown): ReadonlyMap<string, Profile> {
  if (!isObject(value) || !('profiles' in value)) throw unreadable(path, 'it has no profiles.')
  if (!isObject(value.profiles)) throw unreadable(path, 'at profiles: must be an object.')
  // A map, because a profile may be named `__proto__`.
  const profiles = new Map(Object.entries(value.profiles))
  for (const [name, profile] of profiles) {
    const fault = profileFault(profile)
    if (fault !== undefined) throw unreadable(path, `at profiles.${name}${fault}.`)
  }
  return profiles
}

function parsed(path: string, text: string): ReadonlyMap<string, Profile> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message may quote a token.
    throw unreadable(path, 'it is not JSON.')
  }
  return profilesIn(path, value)
}

/** Throws Failure if other users can read it, or if it is invalid. */
export function readProfiles(path: string): ReadonlyMap<string, Profile> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) return new Map()
  refuseOpen(path, found.mode)
  return parsed(path, readFileSync(path, 'utf8'))
}

export const profileOf = (name: string, path = profilesFile()): Profile | undefined =>
  readProfiles(path).get(name)

/** Written atomically and durably, since it may be the only copy of a token. */
export function saveProfiles(
  profiles: ReadonlyMap<string, Profile>,
  path = profilesFile(),
): string {
  writeJson(path, { profiles: Object.fromEntries(profiles) })
  return path
}

export const saveProfile = (name: string, saved: Profile, path = profilesFile()): string =>
  saveProfiles(new Map(readProfiles(path)).set(name, saved), path)
