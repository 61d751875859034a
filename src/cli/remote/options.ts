/** Options of all agent commands: the home's address and the credentials. */
import type { Option } from '../command.ts'

export const URL: Option = {
  name: 'url',
  value: 'URL',
  summary: 'where the home is (AGENT_HOME_URL, or the profile’s)',
}

export const PROFILE: Option = {
  name: 'profile',
  value: 'NAME',
  summary: 'whose address and token (AGENT_HOME_PROFILE, or default)',
}

export const CONNECTION: readonly Option[] = [
  URL,
  { name: 'token', value: 'TOKEN', summary: 'who asks (AGENT_HOME_TOKEN, or the profile’s)' },
  PROFILE,
]
