/** The next version serves beside this one, on one database, until a version takes something away. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCHEMA } from '../../src/store/schema.ts'
import { times } from '../effort.ts'
import { faultsOf } from '../history/linearizable.ts'
import { recorder } from '../history/recorder.ts'
import { birth, readMemory, writeMemory } from '../process/calls.ts'
import { keepings } from '../process/databases.ts'
import { changeInEveryWay } from '../process/every-change.ts'
import { faultsOfLog } from '../process/log.ts'
import { buildAfterNext, buildNext } from '../process/next-version.ts'
import { dropDatabases, loadOn, startNode } from '../process/nodes.ts'
import { cleanUp, freshDirectory, launch, type Server, serve } from '../process/program.ts'

let next: string
let afterNext: string
beforeAll(async () => {
  next = await buildNext()
  afterNext = await buildAfterNext()
})
afterAll(async () => {
  await cleanUp()
  await dropDatabases()
})

const VERSIONS = 'SELECT version, oldest FROM schema_version'

const TOO_OLD = new RegExp(
  `has schema \\d+, for programs that know ${SCHEMA + 1} or newer, and this program knows ${SCHEMA}`,
)

const READS = ['', '/memories', '/memories/search?q=a', '/context', '/events', '/export', '/keys']

/** What is asked of other tables, and of more rows than one. */
async function checkReads(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const reads = READS.map((path) => fetch(`${url}/api/agents/me${path}`, { headers }))
  const body = JSON.stringify({ text: 'a trace' })
  const answers = await Promise.all([
    ...reads,
    fetch(`${url}/api/garden`, { method: 'POST', headers, body }),
  ])
  const statuses = await Promise.all(
    answers.map(async (answer) => ((await answer.text()) ? answer.status : 0)),
  )
  expect(statuses).toEqual([...READS.map((path) => (path === '/keys' ? 403 : 200)), 201])
}

/** Nothing that either did is lost on the other. */
async function checkTogether(nodes: readonly Server[]): Promise<void> {
  const [older, newer] = nodes
  if (!older || !newer) throw new Error('two nodes did not start')
  const { token } = await birth(newer.url)
  const load = loadOn(nodes, token, ['a', 'b', 'c', 'd'])
  const stops = nodes.map((_, node) => load.start(node, 4))
  await load.until(() => load.history().length > times(1_000))
  await Promise.all(stops.map((stop) => stop()))
  expect(faultsOf(load.history())).toEqual([])
  for (const { url } of nodes) {
    expect(await faultsOfLog(url, token, load.history())).toEqual([])
  }
  for (const [node, { url }] of nodes.entries()) {
    await changeInEveryWay(
      recorder(() => url, token),
      `every${node}`,
    )
    await checkReads(url, token)
  }
}

test('on PostgreSQL, beside each other until one is too old', async () => {
  const { directory, env, ask } = await keepings.postgres()
  const url = env.DATABASE_URL ?? ''
  const older = await startNode(url)
  const { token } = await birth(older.url)
  await writeMemory(older.url, token, { key: 'k', text: 'older', expectedVersion: 0 })

  const newer = await serve({ directory, env, entry: next })
  expect(await ask(VERSIONS)).toEqual([{ version: SCHEMA + 1, oldest: SCHEMA }])
  await checkTogether([older, newer])
  expect(await readMemory(newer.url, token, 'k')).toMatchObject({ memory: { text: 'older' } })
  await writeMemory(newer.url, token, { key: 'k', text: 'newer', expectedVersion: 1 })
  expect(await readMemory(older.url, token, 'k')).toMatchObject({ memory: { text: 'newer' } })

  const again = await startNode(url)
  await writeMemory(again.url, token, { key: 'k', text: 'again', expectedVersion: 2 })
  expect(await ask(VERSIONS)).toEqual([{ version: SCHEMA + 1, oldest: SCHEMA }])

  const newest = await serve({ directory: freshDirectory(), env, entry: afterNext })
  for (const node of [older, again]) {
    const { code, output } = await node.ended
    expect(code).toBe(1)
    expect(output).toMatch(TOO_OLD)
  }
  expect(await ask(VERSIONS)).toEqual([{ version: SCHEMA + 2, oldest: SCHEMA + 1 }])
  await writeMemory(newer.url, token, { key: 'k', text: 'without', expectedVersion: 3 })
  expect(await readMemory(newest.url, token, 'k')).toMatchObject({ memory: { text: 'without' } })
  const refused = await launch({ directory: freshDirectory(), env }).ended
  expect(refused.code).toBe(1)
  expect(refused.output).toMatch(TOO_OLD)
})

test('on SQLite, one after the other, and back', async () => {
  const { directory, ask } = await keepings.sqlite()
  const written = async (entry: string | undefined, expectedVersion: number, token?: string) => {
    const server = await serve({ directory, ...(entry && { entry }) })
    const known = token ?? (await birth(server.url)).token
    const text = `version ${expectedVersion}`
    await writeMemory(server.url, known, { key: 'k', text, expectedVersion })
    await changeInEveryWay(
      recorder(() => server.url, known),
      `every${expectedVersion}`,
    )
    await checkReads(server.url, known)
    expect((await server.kill('SIGTERM')).code).toBe(0)
    return known
  }
  const token = await written(undefined, 0)
  await written(next, 1, token)
  expect(await ask(VERSIONS)).toEqual([{ version: SCHEMA + 1, oldest: SCHEMA }])
  await written(undefined, 2, token)
  for (const args of [['doctor'], ['verify', 'data/home.db']]) {
    const { code, output } = await launch({ directory, args }).ended
    expect({ code, output }).toMatchObject({ code: 0 })
  }
  await written(afterNext, 3, token)
  const { code, output } = await launch({ directory }).ended
  expect(code).toBe(1)
  expect(output).toMatch(TOO_OLD)
})
