/** The version that a change is based on, and other whole numbers. */
import type { AgentHome } from 'agent-home-client'
import type { Given } from '../command.ts'
import { usage } from '../failure.ts'

/** Undefined if not given. */
function wholeNumber(name: string, what: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined
  if (/^\d{1,15}$/.test(given)) return Number(given)
  throw usage(`${name} must be ${what}: a whole number from 0.`)
}

export const versionGiven = (name: string, given: string | undefined): number | undefined =>
  wholeNumber(name, 'a version', given)

export const eventGiven = (name: string, given: string | undefined): number | undefined =>
  wholeNumber(name, 'the id of an event', given)

export const expected = ({ options }: Given): number | undefined =>
  versionGiven('--expect', options.expect)

/** The given version, or the current one; 0 if there is no memory. */
export const expectedOrCurrent = async (
  given: Given,
  home: AgentHome,
  key: string,
): Promise<number> => expected(given) ?? (await home.read(key))?.version ?? 0
