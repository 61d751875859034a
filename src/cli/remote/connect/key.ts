/** The named key of a coding agent, and the profile that keeps it. */
import { AgentHome, HomeError } from 'agent-home-client'
import type { Given } from '../../command.ts'
import { Failure, usage } from '../../failure.ts'
import type { Terminal } from '../../terminal.ts'
import {
  type Connection as At,
  connectionOf,
  DEFAULT_PROFILE,
  homeAt,
  profileAt,
  refusing,
  urlOf,
} from '../at-home.ts'
import { birthCommand } from '../birth.ts'
import {
  type Profile,
  profilesFile,
  readProfiles,
  saveProfiles,
  withoutSlash,
} from '../profiles.ts'
import type { Wiring } from './targets.ts'

const NEXT = (client: string): string =>
  `Without a terminal, create an agent and repeat the command, with your operator’s consent:
  agent-home birth --name NAME --purpose TEXT --symbol zerno --operator-consent --save default
  agent-home connect ${client}
Or save the operator token of one that you have: agent-home login URL`

const NO_HOME =
  'There is no profile with an agent yet: one is created. Its operator, the person in charge, must have agreed to it, and to the storage of what coding agents save.'

async function bornByAsking(given: Given, terminal: Terminal): Promise<void> {
  given.notice(NO_HOME)
  const asked = urlOf(given)
  const url = (await terminal.ask(`Address of the home [${asked}]: `)).trim() || asked
  const consent = await terminal.ask('You are the operator, or have their consent? Type yes: ')
  if (!/^y(es)?$/i.test(consent.trim())) throw usage('Nothing was done: ask your operator first.')
  const name = (await terminal.ask('Name of the agent [Atlas]: ')).trim() || 'Atlas'
  const purpose = (await terminal.ask('Its purpose [Remembers for coding agents]: ')).trim()
  const { symbols } = await refusing(AgentHome.preview({ url }))
  const options = {
    ...{ url, name, purpose: purpose || 'Remembers for coding agents', save: DEFAULT_PROFILE },
    symbol: symbols[0]?.id,
  }
  const flags = new Set([...given.flags, 'operator-consent'])
  const born = await birthCommand({ ...given, options, flags }, terminal)
  if (born?.exit !== undefined) throw new Failure(born.exit, `${born.text}${born.note ?? ''}`)
  given.notice(`The agent ${name} is created. ${born?.note?.trim() ?? ''}`)
}

/** Where keys are made. Asks for a home if there is none, on a terminal. Throws Failure. */
export async function operatorAt(given: Given, terminal: Terminal, client: string): Promise<At> {
  const isNew = readProfiles(profilesFile()).size === 0 && given.options.profile === undefined
  const at = () => connectionOf(given, 'operator')
  try {
    return at()
  } catch (error) {
    if (!(error instanceof Failure) || !isNew) throw error
    if (!terminal.isTyped) throw usage(`${error.message}\n${NEXT(client)}`)
  }
  await bornByAsking(given, terminal)
  return at()
}

/** Whether the profile can be used as it is. Throws Failure if the home does not answer. */
export async function isUsable(
  profile: Profile | undefined,
  prefix: string,
  given: Given,
): Promise<boolean> {
  if (!profile || (profile.prefix !== undefined && profile.prefix !== prefix)) return false
  const { url = profile.url } = given.options
  if (withoutSlash(url) !== withoutSlash(profile.url)) return false
  const answer = profileAt(homeAt({ url, token: profile.token, notice: given.notice }))
  try {
    await refusing(answer)
    return true
  } catch (error) {
    const isEnded = error instanceof Failure && error.cause instanceof HomeError
    if (isEnded && (error.cause as HomeError).status === 401) return false
    throw error
  }
}

const NOT_OPERATOR = (profile: string): string =>
  `Only the operator makes keys. Save the operator token: agent-home login URL. Or have a named key made (agent-home keys create, or in the console), save it with agent-home login URL --profile ${profile}, and repeat the command.`

/** Makes a key and saves it. Gives the key's id. */
export async function makeKey(at: At, { profile, prefix }: Wiring): Promise<string> {
  const home = homeAt(at)
  const request = { name: profile, access: 'write' as const, ...(prefix !== '' && { prefix }) }
  try {
    const { key, token } = await refusing(home.createKey(request))
    try {
      save(profile, { url: at.url, token, prefix })
    } catch (error) {
      await home.revokeKey(key.id)
      throw error
    }
    return key.id
  } catch (error) {
    const isAgent = error instanceof Failure && error.facts.code === 'insufficient_scope'
    if (isAgent) throw new Failure(error.exit, NOT_OPERATOR(profile), { cause: error })
    throw error
  }
}

/** Undefined: it is removed. */
export function save(name: string, profile: Profile | undefined): void {
  const profiles = new Map(readProfiles(profilesFile()))
  if (profile) profiles.set(name, profile)
  else if (!profiles.delete(name)) return
  saveProfiles(profiles)
}

/** A key that is gone already is as good as revoked. Gives a sentence if it could not be revoked. */
export async function endKey(given: Given, id: string, name: string): Promise<string | undefined> {
  try {
    await refusing(homeAt(connectionOf(given, 'operator')).revokeKey(id))
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    if (error.facts.code === 'key_not_found') return undefined
    return `The key ${name} could not be revoked (${error.message}). Revoke it: agent-home keys revoke ${id}`
  }
  return undefined
}
