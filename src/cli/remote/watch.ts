/** `agent-home watch`: prints events of the home as they happen. */
import type { HomeEvent, MissedEvents } from 'agent-home-client'
import type { Given } from '../command.ts'
import { oneLine } from '../table.ts'
import type { Terminal } from '../terminal.ts'
import { atHome } from './at-home.ts'
import { authorOf } from './history.ts'
import { eventGiven } from './versions.ts'

function lineOf(event: HomeEvent | MissedEvents): string {
  if (event.type === 'missed') return `… what came before event ${event.first} is no longer kept`
  const { id, type, key = '', version, by, createdAt } = event
  const what = version === undefined ? key : `${key} at version ${version}`
  return [createdAt, id, type, what, authorOf(by)].join('  ')
}

export async function watchCommand(given: Given, { say }: Terminal): Promise<undefined> {
  const after = eventGiven('--after', given.options.after)
  const asJson = given.flags.has('json')
  await atHome(given, async (home) => {
    for await (const event of home.watch(after === undefined ? {} : { after })) {
      say(`${asJson ? JSON.stringify(event) : oneLine(lineOf(event))}\n`)
    }
  })
}
