/** pouchdb-server: a document per key, updated by naming its revision. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Dialect, Written } from '../load/dialect.ts'
import { frameHttp, get, send, statusOf, within } from '../load/http.ts'
import { answering, freePort, quiet, SERVER_CORE, spawnPinned } from '../process.ts'
import { type Contestant, loaded } from './contestant.ts'
import { needsPeer, peerProgram } from './peers.ts'

const put = (key: number, text: string, revision?: unknown): string =>
  send(
    'PUT',
    `/home/k${key}`,
    JSON.stringify({ text, ...(revision !== undefined && { _rev: revision }) }),
  )

function written(answer: Buffer): Written {
  const revision = within(answer, /"rev":"([^"]+)"/)
  if (statusOf(answer) === 201 && revision) return { is: 'saved', version: revision }
  // A conflict does not say which revision is current: it must be read.
  return statusOf(answer) === 409 ? { is: 'conflict', current: undefined } : { is: 'failed' }
}

export const pouchdbDialect: Dialect = {
  frame: frameHttp,
  create: put,
  update: put,
  read: (key) => get(`/home/k${key}`),
  written,
  found: (answer) => within(answer, /"_rev":"([^"]+)"/),
}

export const pouchdb: Contestant = {
  name: 'pouchdb-server',
  synced: false,
  missing: needsPeer('pouchdb-server'),
  async start(directory, generator) {
    const port = await freePort()
    const data = join(directory, 'pouchdb')
    mkdirSync(data)
    const flags = ['--port', `${port}`, '--dir', data, '--no-stdout-logs', '--no-color']
    const command = [process.execPath, peerProgram('pouchdb-server'), ...flags]
    const child = spawnPinned(SERVER_CORE, command, { ...quiet, cwd: data })
    await answering(`http://127.0.0.1:${port}/`)
    await fetch(`http://127.0.0.1:${port}/home`, { method: 'PUT' })
    return loaded('pouchdb-server', { speaks: 'pouchdb', port }, generator, child)
  },
}
