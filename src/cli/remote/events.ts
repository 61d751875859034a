/** `agent-home events`: what happened in the home, newest first. */
import type { EventsOptions, HomeEvent } from 'agent-home-client'
import type { Given, Report } from '../command.ts'
import { table } from '../table.ts'
import { atHome } from './at-home.ts'
import { authorOf } from './history.ts'
import { limitOf } from './list.ts'

const rowOf = ({ id, type, key = '', version, by, createdAt }: HomeEvent) => [
  ...[id, type, key, version ?? '', authorOf(by), createdAt],
]

export async function eventsCommand(given: Given): Promise<Report> {
  const { since, key, prefix, type, by } = given.options
  const asked = { since, key, prefix, type, by } as EventsOptions
  const order = given.flags.has('oldest') ? 'oldest' : 'newest'
  const limit = limitOf(given)
  const events = await atHome(given, (home) =>
    Array.fromAsync(home.events({ ...asked, order, limit })),
  )
  const text = table(['ID', 'WHAT', 'KEY', 'VERSION', 'BY WHOM', 'AT'], events.map(rowOf))
  return { value: { events }, text }
}
