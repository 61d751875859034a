/** `agent-home login` and `profiles`: keeps addresses and tokens that a person already has. */
import { AgentHome } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { DEFAULT_PROFILE, homeAt, ONCE, profileAt, refusing } from './at-home.ts'
import {
  type Profile,
  profileOf,
  profilesFile,
  readProfiles,
  saveProfile,
  saveProfiles,
  withoutSlash,
} from './profiles.ts'
import { bytesOf, standardInput, textIn } from './text.ts'

const NO_TOKEN =
  'That is not a token. Copy all of it, as the birth, the operator or the console gave it: aha_ or aho_, and 49 characters.'

async function tokenGiven({ options }: Given, terminal: Terminal): Promise<string> {
  const file = options['token-file']
  const typed = file === undefined && terminal.isTyped
  const text = typed ? await terminal.askSecretly('Token: ') : await tokenText(file, terminal)
  const token = text.trim()
  if (!/^ah[ao]_\w+$/.test(token)) throw usage(NO_TOKEN)
  return token
}

const tokenText = async (file: string | undefined, terminal: Terminal): Promise<string> =>
  file === undefined || file === '-' ? standardInput(terminal) : textIn(await bytesOf(file), file)

const kindOf = (token: string): 'agent' | 'operator' =>
  token.startsWith('aho_') ? 'operator' : 'agent'

interface Who {
  readonly agentId: string
  readonly name: string
}

async function whoIs(home: AgentHome): Promise<Who> {
  const { agent_id, name } = (await profileAt(home)).profile
  return { agentId: agent_id, name }
}

/** Asked once: a home that is away is not waited for. */
async function whoIn({ url, token }: Profile): Promise<Who | { readonly problem: string }> {
  try {
    return await whoIs(new AgentHome({ ...ONCE, url, token }))
  } catch (error) {
    return { problem: (error as Error).message }
  }
}

/** A profile of somebody else is not replaced: its tokens may be nowhere else. */
async function refuseOther(name: string, url: string, { agentId }: Who): Promise<void> {
  const found = profileOf(name)
  if (!found) return
  const who = await whoIn(found)
  if (withoutSlash(found.url) === url && 'agentId' in who && who.agentId === agentId) return
  throw usage(
    `The profile ${name} already exists, and may belong to another agent. Use --profile with another name, or remove it: agent-home profiles remove ${name}.`,
  )
}

/** The tokens of one agent are kept together. */
function merged(found: Profile | undefined, url: string, token: string): Profile {
  if (kindOf(token) === 'agent') return { ...found, url, token }
  const agents = found && kindOf(found.token) === 'agent' ? found.token : token
  return { url, token: agents, operator_token: token }
}

export async function loginCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [address = ''] = given.args
  const url = withoutSlash(address)
  const name = given.options.profile ?? DEFAULT_PROFILE
  const token = await tokenGiven(given, terminal)
  const who = await refusing(whoIs(homeAt({ url, token, notice: given.notice })))
  await refuseOther(name, url, who)
  const file = saveProfile(name, merged(profileOf(name), url, token))
  const kind = kindOf(token)
  const value = { profile: name, url, agent_id: who.agentId, name: who.name, token: kind }
  const whose = kind === 'operator' ? `the operator of ${who.name}` : who.name
  const text = `You are ${whose} (${who.agentId}) at ${url}.\n`
  return { value, text, note: `The token is saved in the profile ${name} in ${file}.\n` }
}

const kindsIn = ({ token, operator_token }: Profile): ('agent' | 'operator')[] => [
  ...new Set([kindOf(token), ...(operator_token === undefined ? [] : ['operator' as const])]),
]

async function listed([name, profile]: readonly [string, Profile]) {
  const who = await whoIn(profile)
  return {
    ...{ profile: name, url: profile.url, tokens: kindsIn(profile) },
    isDefault: name === DEFAULT_PROFILE,
    ...('name' in who ? { name: who.name, agent_id: who.agentId } : who),
  }
}

export async function listProfiles(): Promise<Report> {
  const profiles = await Promise.all([...readProfiles(profilesFile())].map(listed))
  const rows = profiles.map(({ profile, url, tokens, isDefault, ...who }) => [
    ...[profile, isDefault ? 'yes' : '', url, tokens.join(', ')],
    'name' in who ? who.name : `? ${who.problem}`,
  ])
  const text = table(['PROFILE', 'DEFAULT', 'ADDRESS', 'TOKENS', 'AGENT'], rows)
  return { value: { profiles }, text }
}

/** Throws Failure. */
function existing(name: string): { profiles: Map<string, Profile>; profile: Profile } {
  const profiles = new Map(readProfiles(profilesFile()))
  const profile = profiles.get(name)
  if (!profile) throw missing(`There is no profile ${name}. agent-home profiles lists them.`)
  return { profiles, profile }
}

export async function removeProfile({ args: [name = ''], confirm }: Given): Promise<Report> {
  await confirm(`Remove the profile ${name} and its tokens from this computer?`)
  const { profiles } = existing(name)
  profiles.delete(name)
  saveProfiles(profiles)
  const text = `The profile ${name} is removed. Its tokens still work at the home.\n`
  return { value: { removed: name }, text }
}

export async function renameProfile({ args: [from = '', to = ''] }: Given): Promise<Report> {
  const { profiles, profile } = existing(from)
  if (profiles.has(to)) throw usage(`The profile ${to} already exists. Use another name.`)
  profiles.delete(from)
  saveProfiles(profiles.set(to, profile))
  return { value: { profile: to }, text: `The profile ${from} is now ${to}.\n` }
}
