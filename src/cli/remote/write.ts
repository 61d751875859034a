/** `agent-home write`: writes a memory, based on the version that was read. */
import type { AgentHome, Memory, Metadata } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'
import { textGiven } from './text.ts'
import { expected } from './versions.ts'

export const saved = (memory: Memory): Report => ({
  value: { memory },
  text: `${memory.key} is at version ${memory.version}.\n`,
})

function metadataOf(given: string | undefined): Metadata | undefined {
  if (given === undefined) return undefined
  try {
    const value: unknown = JSON.parse(given)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as Metadata
    }
  } catch {}
  throw usage('--metadata must be a JSON object.')
}

export async function writeCommand(given: Given, terminal: Terminal): Promise<Report> {
  const [key = ''] = given.args
  const metadata = metadataOf(given.options.metadata)
  const expectedVersion = expected(given)
  const isAny = given.flags.has('overwrite')
  if (isAny && expectedVersion !== undefined) {
    throw usage('Give --expect or --overwrite, not both.')
  }
  const text = await textGiven(given, 1, terminal)
  const write = (home: AgentHome): Promise<Memory> =>
    isAny
      ? home.update(key, () => ({ text, ...(metadata && { metadata }) }))
      : home.write(key, text, { expectedVersion: expectedVersion ?? 0, metadata })
  return saved(await atHome(given, write))
}
