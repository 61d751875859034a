/**
 * kill -9 of PostgreSQL under load: nothing that was answered is lost, log and versions agree, and
 * the nodes heal without a restart. A server that loses what it acknowledged is not written to.
 */
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { tell, times } from '../effort.ts'
import { faultsOf } from '../history/linearizable.ts'
import { createPostgres, type PostgresServer } from '../postgres/server.ts'
import { birth } from '../process/calls.ts'
import { eventsOf, faultsOfLog, halves } from '../process/log.ts'
import { loadOn, PAIR, readEach, startNode } from '../process/nodes.ts'
import { cleanUp } from '../process/program.ts'
import { unbounded } from '../unbounded.ts'

const KEYS = ['a', 'b', 'c', 'd']
/** Before each kill. */
const CHANGES = times(200)

let server: PostgresServer
beforeAll(async () => {
  server = await createPostgres(inject('postgresModel'))
  await server.start()
})
afterEach(cleanUp)
afterAll(() => server.remove())

test('kill -9 and restart of PostgreSQL under load, three times', async () => {
  const nodes = [await startNode(server.url('postgres')), await startNode(server.url('postgres'))]
  const { token } = await birth(nodes[0]?.url ?? '')
  const load = loadOn(nodes, token, KEYS)
  const stops = nodes.map((_, node) => load.start(node, 8))
  const outages: number[] = []
  for (let cycle = 0; cycle < 3; cycle++) {
    const before = load.saved()
    await load.until(() => load.saved() > before + CHANGES)
    await server.kill()
    const atKill = load.saved()
    await server.start()
    const startedAt = performance.now()
    await load.until(() => load.saved() > atKill + 16)
    outages.push(Math.round(performance.now() - startedAt))
  }
  await Promise.all(stops.map((stop) => stop()))
  await tell('nodes write again after the start of PostgreSQL, in ms', () => outages)
  await readEach(load, KEYS)
  expect(faultsOf(load.history())).toEqual([])
  expect(await faultsOfLog(nodes[0]?.url ?? '', token, load.history())).toEqual([])
  expect(halves(await eventsOf(nodes[0]?.url ?? '', token), ...PAIR)).toEqual([])
})

async function setFsync(value: 'on' | 'off'): Promise<void> {
  await server.query(`ALTER SYSTEM SET fsync = ${value}`)
  await server.query('SELECT pg_reload_conf()')
  const isSet = `SELECT 1 FROM pg_settings WHERE name = 'fsync' AND setting = '${value}'`
  while ((await server.query(isSet)).length === 0);
}

test('a server with fsync = off is refused', async () => {
  await setFsync('off')
  try {
    const opening = openStore(server.url('postgres'), Date.now(), unbounded)
    await expect(opening).rejects.toThrow(/fsync = off: .* Set fsync = on/)
  } finally {
    await setFsync('on')
  }
})
