/** `agent-home history`: the versions of a memory, newest first. */
import type { Version } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { table } from '../table.ts'
import { atHome } from './at-home.ts'

export const authorOf = (by: Version['by']): string => {
  if (!by) return ''
  const who = by.key?.name ?? by.account ?? by.as
  return `${who}, ${by.via}`
}

const rowOf = ({ version, operation, bytes, by, createdAt }: Version) => [
  ...[version, operation, bytes, authorOf(by), createdAt],
]

export async function historyCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const versions = await atHome(given, (home) => Array.fromAsync(home.versions(key)))
  const text = table(['VERSION', 'BY WHAT', 'BYTES', 'BY WHOM', 'AT'], versions.map(rowOf))
  return { value: { versions }, text }
}
