/** `agent-home list` and `search`: all memories, or those that match a question. */
import type { MemoryHit, MemorySummary, RestorableMemory } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { usage, wholeNumber } from '../failure.ts'
import { table } from '../table.ts'
import { atHome } from './at-home.ts'
import { authorOf } from './history.ts'

const LIMIT = { least: 1, most: 1_000_000, otherwise: 1_000_000 }

export const limitOf = ({ options }: Given): number => wholeNumber('limit', options.limit, LIMIT)

const within = ({ options: { prefix } }: Given) => (prefix === undefined ? {} : { prefix })

const summaryRow = ({ key, version, bytes, updatedAt }: MemorySummary) => [
  ...[key, version, bytes, updatedAt],
]

const deletedRow = ({ key, lastVersion, bytes, deletedAt, by }: RestorableMemory) => [
  ...[key, lastVersion, bytes, deletedAt, authorOf(by)],
]

async function listDeleted(given: Given, limit: number): Promise<Report> {
  if (given.options.order !== undefined) throw usage('Give --deleted or --order, not both.')
  const memories = await atHome(given, (home) =>
    Array.fromAsync(home.deleted({ ...within(given), limit })),
  )
  const heads = ['KEY', 'VERSION', 'BYTES', 'DELETED AT', 'BY WHOM']
  return { value: { memories }, text: table(heads, memories.map(deletedRow)) }
}

export async function listCommand(given: Given): Promise<Report> {
  const limit = limitOf(given)
  if (given.flags.has('deleted')) return listDeleted(given, limit)
  const order = given.options.order === 'changed' ? 'changed' : 'key'
  const query = { ...within(given), order, limit } as const
  const memories = await atHome(given, (home) => Array.fromAsync(home.list(query)))
  const heads = ['KEY', 'VERSION', 'BYTES', 'CHANGED AT']
  if (!memories.some((each) => each.protected)) {
    return { value: { memories }, text: table(heads, memories.map(summaryRow)) }
  }
  const rows = memories.map((each) => [...summaryRow(each), each.protected ? 'protected' : ''])
  return { value: { memories }, text: table([...heads, ''], rows) }
}

const NOTHING_FOUND = 'Nothing was found. Ask in other words, or see: agent-home list\n'

/** Characters of a cell, as in a snippet. */
const SNIPPET = 200

const hitRow = ({ key, version, text, snippet }: MemoryHit) => [key, version, text ?? snippet]

export async function searchCommand(given: Given): Promise<Report> {
  const [question = ''] = given.args
  const limit = limitOf(given)
  const match = given.options.match === 'all' ? 'all' : 'any'
  const query = { ...within(given), match, limit } as const
  const memories = await atHome(given, (home) => Array.fromAsync(home.search(question, query)))
  const text = table(['KEY', 'VERSION', 'TEXT'], memories.map(hitRow), SNIPPET)
  return { value: { memories }, text, ...(memories.length === 0 && { note: NOTHING_FOUND }) }
}
