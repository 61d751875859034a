/** `agent-home rotate`: replaces the agent token, which revokes all named keys. */
import type { Given, Report } from '../command.ts'
import { connectionOf, homeAt, refusing } from './at-home.ts'
import { profileOf, saveProfile } from './profiles.ts'

/** The profile with the old token. */
function keep(name: string | undefined, token: string): string | undefined {
  const profile = name === undefined ? undefined : profileOf(name)
  if (name === undefined || !profile) return undefined
  saveProfile(name, { ...profile, token })
  return name
}

export async function rotateCommand(given: Given): Promise<Report> {
  const connection = connectionOf(given, 'operator')
  const token = await refusing(homeAt(connection).rotate())
  const kept = keep(connection.profile, token)
  const note = kept ? `It is kept in the profile ${kept}.\n` : 'It is shown here alone: keep it.\n'
  const about = 'The agent token before it and every named key are revoked. '
  return { value: { token, profile: kept ?? null }, text: `${token}\n`, note: about + note }
}
