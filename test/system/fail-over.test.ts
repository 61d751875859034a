/**
 * Primary and synchronous standby: the primary is killed under load, the standby promoted, and the
 * nodes, whose URL names both, go on. Nothing that was answered is lost, the streams of the home stay
 * open and tell all of it, and searches find what was written. `FAIL_OVER_CYCLES` sets how often (5);
 * each time the new primary gets a standby of its own.
 */
import { afterEach, expect, inject, test } from 'vitest'
import { tell, times } from '../effort.ts'
import { faultsOf } from '../history/linearizable.ts'
import { createPostgres, freePort, type PostgresServer } from '../postgres/server.ts'
import { birth, readMemory, searchMemories, writeMemory } from '../process/calls.ts'
import { follow, idsUntil } from '../process/following.ts'
import { eventsOf, faultsOfLog, halves } from '../process/log.ts'
import { loadOn, PAIR, readEach, startNode } from '../process/nodes.ts'
import { cleanUp, type Server } from '../process/program.ts'

const CYCLES = Number(process.env.FAIL_OVER_CYCLES ?? 5)
const KEYS = ['a', 'b', 'c', 'd']
/** Before each kill. */
const CHANGES = times(200)

const servers: PostgresServer[] = []
afterEach(async () => {
  await cleanUp()
  await Promise.all(servers.splice(0).map((server) => server.remove()))
})

const kept = (server: PostgresServer): PostgresServer => {
  servers.push(server)
  return server
}

/** Every node finds each memory by what it says now: its index outlived the primary. */
async function expectFound(nodes: readonly Server[], token: string): Promise<void> {
  for (const { url } of nodes) {
    for (const key of KEYS) {
      const found = await readMemory(url, token, key).catch(() => undefined)
      if (!found) continue
      const [piece] = found.memory.text.split(';')
      const { version } = found.memory
      const { memories } = await searchMemories(url, token, `"${piece}"`)
      expect(memories).toContainEqual(expect.objectContaining({ key, version }))
    }
  }
}

test(
  `fail-over to a synchronous standby, ${CYCLES} times`,
  async () => {
    let primary = kept(await createPostgres(inject('postgresModel')))
    await primary.start()
    let standby = kept(await primary.standby(await freePort()))
    const both = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`
    const url = primary.url('postgres').replace(`127.0.0.1:${primary.port}`, both)
    const nodes = [await startNode(url), await startNode(url)]
    const { token } = await birth(nodes[0]?.url ?? '')
    const heard = nodes.map(async (node) =>
      idsUntil(await follow(node, token, 0), (event) => event.includes('"key":"last"')),
    )
    const load = loadOn(nodes, token, KEYS)
    const outages: number[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const stops = nodes.map((_, node) => load.start(node, 8))
      const before = load.saved()
      await load.until(() => load.saved() > before + CHANGES)
      await primary.kill()
      const [killedAt, atKill] = [performance.now(), load.saved()]
      await standby.query('SELECT pg_promote()')
      await load.until(() => load.saved() > atKill + 16)
      outages.push(Math.round(performance.now() - killedAt))
      await Promise.all(stops.map((stop) => stop()))
      await expectFound(nodes, token)
      const { port } = primary
      await primary.remove()
      primary = standby
      if (cycle + 1 < CYCLES) standby = kept(await primary.standby(port))
    }
    await readEach(load, KEYS)
    expect(faultsOf(load.history())).toEqual([])
    expect(await faultsOfLog(nodes[0]?.url ?? '', token, load.history())).toEqual([])
    await writeMemory(nodes[0]?.url ?? '', token, { key: 'last', text: 'x', expectedVersion: 0 })
    const events = await eventsOf(nodes[0]?.url ?? '', token)
    expect(halves(events, ...PAIR)).toEqual([])
    const ids = events.map(({ id }) => id)
    expect(await Promise.all(heard)).toEqual([ids, ids])
    await tell(`outages of fail-overs under ${load.saved()} writes, in ms`, () => outages)
  },
  CYCLES * 360_000,
)
