/** `agent-home connect`: which coding agents are here, which are connected, and what went wrong. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Report } from '../../command.ts'
import { table } from '../../table.ts'
import { clearTroubles, readTroubles } from '../hook/log.ts'
import { clients } from './clients.ts'
import { homeDirectory, onPath } from './project.ts'
import { type Connection, readConnections } from './record.ts'

const shown = ({ wiring, place }: Connection) => ({
  ...{ scope: place.scope, prefix: wiring.prefix, profile: wiring.profile },
  directory: place.scope === 'project' ? place.root : place.home,
  capture: wiring.capture,
})

export async function listConnections(): Promise<Report> {
  const connections = readConnections()
  const found = Object.entries(clients).map(([client, { name, program, directory }]) => ({
    ...{ client, name },
    installed: onPath(program) !== undefined || existsSync(join(homeDirectory(), directory)),
    connections: connections.filter(({ wiring }) => wiring.client === client).map(shown),
  }))
  const rows = found.flatMap(({ client, installed, connections: own }) => {
    const here = [client, installed ? 'yes' : '']
    if (own.length === 0) return [[...here, '', '', '', '']]
    return own.map((each) => [
      ...[...here, each.scope, each.prefix || '(all)', each.profile],
      each.directory,
    ])
  })
  const troubles = readTroubles()
  clearTroubles()
  const told = troubles.map(
    ({ at, client, event, message }) => `${at} ${client} ${event}: ${message}\n`,
  )
  return {
    value: { clients: found, troubles },
    text: table(['CLIENT', 'INSTALLED', 'SCOPE', 'PREFIX', 'PROFILE', 'DIRECTORY'], rows),
    ...(told.length > 0 && { note: `Hooks had troubles, shown once:\n${told.join('')}` }),
  }
}
