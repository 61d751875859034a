/**
 * Many homes on two nodes, a pooler and PostgreSQL, each of which is killed under load, again and
 * again: each home's history is linearizable, nothing that was answered is lost, and the database is
 * as it was promised. `npm run hunt` has a thousand homes and takes some ten minutes for it;
 * `KILLS` sets how often something is killed.
 */
import { afterAll, expect, inject, test } from 'vitest'
import { verifyDatabase } from '../../src/store/maintenance.ts'
import { processTimers } from '../../src/timers.ts'
import { hunted, tell } from '../effort.ts'
import { inGroups } from '../harness.ts'
import { pick } from '../history/choose.ts'
import { faultsOf } from '../history/linearizable.ts'
import { at } from '../postgres/databases.ts'
import { startPgBouncer } from '../postgres/pgbouncer.ts'
import { type Pooler, startPooler } from '../postgres/pooler.ts'
import { createPostgres, type PostgresServer } from '../postgres/server.ts'
import { birth } from '../process/calls.ts'
import { eventsOf, faultsOfLog, halves } from '../process/log.ts'
import { loadOn, PAIR, readEach, startNode } from '../process/nodes.ts'
import { cleanUp, type Server } from '../process/program.ts'

const HOMES = hunted(1_000, 24)
const KILLS = Number(process.env.KILLS ?? hunted(60, 6))
/** Before each kill. */
const CHANGES = hunted(1_000, 100)
const WRITERS = 24
const KEYS = ['a', 'b']

let server: PostgresServer
let pooler: Pooler
afterAll(async () => {
  await cleanUp()
  await pooler.close()
  await server.remove()
})

/** PgBouncer, where that is installed. */
const openPooler = async (port?: number): Promise<Pooler> =>
  (await startPgBouncer(server.url('postgres'), port)) ??
  (await startPooler(server.url('postgres'), port))

const env = { BIRTHS_PER_HOUR: '0' }

test(`${KILLS} kills under the load of ${HOMES} homes lose nothing that was answered`, async () => {
  server = await createPostgres(inject('postgresModel'))
  await server.start()
  pooler = await openPooler()
  const url = at(pooler.url, 'postgres')
  const port = Number(new URL(url).port)
  const start = async () => ({ ...(await startNode(url, env)), isUp: true })
  const nodes = [await start(), await start()]

  async function restart(place: number): Promise<void> {
    const node = nodes[place] as Server & { isUp: boolean }
    node.isUp = false
    await node.kill('SIGKILL')
    // The loads ask it where it is now.
    Object.assign(node, await start())
  }
  const kills = [
    () => restart(0),
    async () => {
      await pooler.close()
      pooler = await openPooler(port)
    },
    () => restart(1),
    async () => {
      await server.kill('SIGQUIT')
      await server.start()
    },
  ]

  const homes = await inGroups([...Array(HOMES).keys()], async () => {
    const { token } = await birth(nodes[0]?.url ?? '')
    const load = loadOn(nodes, token, KEYS)
    return { token, load, writers: nodes.map((_, node) => load.writer(node, String(node))) }
  })
  const saved = () => homes.reduce((sum, { load }) => sum + load.saved(), 0)

  let isOver = false
  let look = () => {}
  const write = async () => {
    while (!isOver) {
      const { writers } = pick(homes)
      const change = pick(writers.filter((_, node) => nodes[node]?.isUp))
      await change()
      look()
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, write))
  const changed = (most = saved() + CHANGES) =>
    new Promise<void>((resolve) => {
      look = () => {
        if (saved() >= most) resolve()
      }
    })
  for (let kill = 0; kill < KILLS; kill++) {
    await Promise.race([changed(), writing])
    await kills[kill % kills.length]?.()
  }
  await Promise.race([changed(), writing])
  isOver = true
  await writing

  const told = { operations: 0, unknown: 0, refused: 0 }
  const faults = await inGroups(homes, async ({ token, load }, place) => {
    await readEach(load, KEYS)
    const history = load.history()
    const { url: node } = nodes[place % nodes.length] as Server
    const outcomes = history.map((each) => (each.kind === 'read' ? 'read' : each.outcome.is))
    told.operations += outcomes.length
    told.unknown += outcomes.filter((is) => is === 'unknown').length
    told.refused += outcomes.filter((is) => is === 'refused').length
    return [
      ...faultsOf(history),
      ...(await faultsOfLog(node, token, history)),
      ...halves(await eventsOf(node, token), ...PAIR),
    ]
  })
  await tell(`${HOMES} homes, ${KILLS} kills, ${pooler.name}`, () => ({ ...told, saved: saved() }))
  expect(faults.flat()).toEqual([])
  const verified = await verifyDatabase(url, processTimers, () => {})
  expect(verified.faults).toEqual([])
  expect(verified.counts).toMatchObject({ agents: HOMES })
})
