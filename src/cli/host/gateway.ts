/** `agent-home gateway list` and `remove`: moderation of gateway entries. */
import type { EntrySummary } from '../../store/port/host.ts'
import type { Given, Report } from '../command.ts'
import { missing, usage } from '../failure.ts'
import { wholeNumber } from '../numbers.ts'
import { table, timeOf } from '../table.ts'
import { onHost } from './on-host.ts'

const ENTRY_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Each at most a kilobyte or two. */
const LIMIT = { least: 1, most: 1_000, otherwise: 20 }

function idOf(given: string): string {
  const id = given.toLowerCase()
  if (!ENTRY_ID.test(id)) throw usage('An entry is named by its id: see agent-home gateway list.')
  return id
}

const rowOf = ({ id, feed, createdAt, identity, text }: EntrySummary) => [
  ...[id, feed, timeOf(createdAt), identity, text],
]

const HEAD = ['ID', 'FEED', 'LEFT AT (UTC)', 'BY', 'TEXT']

export async function gatewayList({ options }: Given): Promise<Report> {
  const { feed, before } = options
  const wanted = {
    feed,
    before: before === undefined ? undefined : idOf(before),
    limit: wholeNumber('limit', options.limit, LIMIT),
  }
  const entries = await onHost((host) => host.listEntries(wanted))
  const value = entries.map((each) => ({ ...each, createdAt: new Date(each.createdAt) }))
  return { value: { entries: value }, text: table(HEAD, entries.map(rowOf)) }
}

export async function gatewayRemove({ args: [given = ''] }: Given): Promise<Report> {
  const id = idOf(given)
  return onHost(async (host) => {
    const { outcome } = await host.removeEntry(id)
    if (outcome === 'missing') throw missing(`No entry ${id} in ${host.location}.`)
    return { value: { removed: id }, text: `Removed ${id}.\n` }
  })
}
