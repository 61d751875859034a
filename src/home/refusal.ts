/** A verb's refusal of the identity it was given, as the problem it is. */
import { problem } from '../errors.ts'
import type { Refused } from '../store/port/home.ts'

export const refusal = ({ outcome }: Refused) =>
  problem(outcome === 'paused' ? 'agent_paused' : 'invalid_token')
