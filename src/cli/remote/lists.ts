/** Commands that list: list, search, history, events, watch. */
import type {
  EventsOptions,
  HomeEvent,
  MemoryHit,
  MemorySummary,
  MissedEvents,
  Neighbour,
  RestorableMemory,
  Version,
} from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import { eventGiven, wholeNumber } from '../numbers.ts'
import { oneLine, table } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'

const LIMIT = { least: 1, most: 1_000_000, otherwise: 1_000_000 }

const AROUND = { least: 0, most: 2, otherwise: 0 }

/** Memories on each side of what is found, if any are asked for. */
export function aroundIn({ options }: Given): { readonly around?: number } {
  const around = wholeNumber('around', options.around, AROUND)
  return around > 0 ? { around } : {}
}

/** One line, if there are any. */
export const missingLine = (missing: readonly string[] = []): string =>
  missing.length > 0 ? `No memory has: ${missing.join(', ')}\n` : ''

const limitOf = ({ options }: Given): number => wholeNumber('limit', options.limit, LIMIT)

const within = ({ options: { prefix } }: Given) => (prefix === undefined ? {} : { prefix })

const authorOf = (by: Version['by']): string => {
  if (!by) return ''
  const who = by.key?.name ?? by.account ?? by.as
  return [who, by.via, ...(by.run === undefined ? [] : [by.run])].join(', ')
}

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

const NOTHING_FOUND = 'Nothing was found. Try other words, or list all: agent-home list\n'

/** Characters of a cell, as in a snippet. */
const SNIPPET = 200

const rowOf = ({ key, version, text, snippet }: Neighbour) => [key, version, text ?? snippet]

/** Indented, as what was not found itself. */
const besideRow = (each: Neighbour) => rowOf({ ...each, key: `  ${each.key}` })

const hitRows = ({ before = [], after = [], ...hit }: MemoryHit) => [
  ...before.map(besideRow),
  rowOf(hit),
  ...after.map(besideRow),
]

export async function searchCommand(given: Given): Promise<Report> {
  const [question = ''] = given.args
  const limit = limitOf(given)
  const match = given.options.match === 'all' ? 'all' : 'any'
  const query = { ...within(given), ...aroundIn(given), match, limit } as const
  const { memories, missing } = await atHome(given, async (home) => {
    const hits = home.search(question, query)
    return { memories: await Array.fromAsync(hits), missing: hits.missing }
  })
  const text = table(['KEY', 'VERSION', 'TEXT'], memories.flatMap(hitRows), SNIPPET)
  const note = missingLine(missing) + (memories.length === 0 ? NOTHING_FOUND : '')
  return { value: { memories, missing }, text, ...(note !== '' && { note }) }
}

const versionRow = ({ version, operation, bytes, by, createdAt }: Version) => [
  ...[version, operation, bytes, authorOf(by), createdAt],
]

export async function historyCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const versions = await atHome(given, (home) => Array.fromAsync(home.versions(key)))
  const text = table(['VERSION', 'BY WHAT', 'BYTES', 'BY WHOM', 'AT'], versions.map(versionRow))
  return { value: { versions }, text }
}

const eventRow = ({ id, type, key = '', version, by, createdAt }: HomeEvent) => [
  ...[id, type, key, version ?? '', authorOf(by), createdAt],
]

export async function eventsCommand(given: Given): Promise<Report> {
  const { run, ...options } = given.options
  const { since, key, prefix, type, by } = options
  const asked = { since, key, prefix, type, by, run } as EventsOptions
  const order = given.flags.has('oldest') ? 'oldest' : 'newest'
  const limit = limitOf(given)
  const events = await atHome({ ...given, options }, (home) =>
    Array.fromAsync(home.events({ ...asked, order, limit })),
  )
  const text = table(['ID', 'WHAT', 'KEY', 'VERSION', 'BY WHOM', 'AT'], events.map(eventRow))
  return { value: { events }, text }
}

function lineOf(event: HomeEvent | MissedEvents): string {
  if (event.type === 'missed') return `… events before ${event.first} are no longer kept`
  const { id, type, key = '', version, by, createdAt } = event
  const what = version === undefined ? key : `${key} at version ${version}`
  return [createdAt, id, type, what, authorOf(by)].join('  ')
}

/** Runs until it is stopped. */
export async function watchCommand(given: Given, { say }: Terminal): Promise<undefined> {
  const after = eventGiven('--after', given.options.after)
  const asJson = given.flags.has('json')
  await atHome(given, async (home) => {
    for await (const event of home.watch(after === undefined ? {} : { after })) {
      say(`${asJson ? JSON.stringify(event) : oneLine(lineOf(event))}\n`)
    }
  })
}
