/** The header Agent-Run: what a client calls this run of itself. It is kept with what is written. */
import { z } from 'zod'
import { problem } from '../errors.ts'
import { fields } from '../fields.ts'
import type { Call } from '../http/call.ts'
import type { Guard } from '../pipeline/guard.ts'
import type { Identified } from '../pipeline/guards/bearer.ts'
import { characters } from '../pipeline/schemas.ts'

/** Spaces between characters are fine; controls, line ends and invisible characters are not. */
const VISIBLE =
  /^(?=.*[\p{L}\p{N}\p{P}\p{S}])[^\p{C}\p{Zl}\p{Zp}[\p{Default_Ignorable_Code_Point}--\p{Variation_Selector}]]*$/v

export const runName = characters(fields.run).refine(
  (name) => VISIBLE.test(name),
  'must have visible characters only, and spaces',
)

/** Throws `invalid_agent_run`. */
export function runIn({ requestHeaders }: Pick<Call, 'requestHeaders'>): string | undefined {
  const header = requestHeaders['agent-run']
  if (header === undefined) return undefined
  // Node.js gives the bytes of a header as Latin-1; they are UTF-8.
  const { data } = runName.safeParse(Buffer.from(header, 'latin1').toString().trim())
  if (data === undefined) throw problem('invalid_agent_run')
  return data
}

export const namedRun: Guard<unknown, Identified, Identified> = {
  name: 'named-run',
  errors: ['invalid_agent_run'],
  accepts: z.object({
    'Agent-Run': runName.optional().meta({
      description: 'What you call this run, in UTF-8: kept with what it changes, as `by.run`.',
      examples: ['nightly 2026-11-21'],
    }),
  }),
  run({ call, identity }) {
    const run = runIn(call)
    return { identity: run === undefined ? identity : { ...identity, run } }
  },
}
