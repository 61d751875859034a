/**
 * A process that is killed anywhere in an import or a rollback: when the next one serves, the import is
 * there as a whole or was taken back, and the rollback was finished.
 */
import { afterEach, expect, test } from 'vitest'
import { verifyServer } from '../../src/store/postgres/check/verify.ts'
import { verifyFile } from '../../src/store/sqlite/check/verify.ts'
import { processTimers } from '../../src/timers.ts'
import { birth, type Tokens, writeMemory } from '../process/calls.ts'
import { type EngineName, type Keeping, keepings, reaches } from '../process/databases.ts'
import { bring } from '../process/exported.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, type Server, serve } from '../process/program.ts'
import { dice } from '../seed.ts'

/** Of 2,252 events, in 23 batches. */
const FILE = { keys: 450, versions: 5, text: 'x'.repeat(200) }
const EVENTS = FILE.keys * FILE.versions

const env = {
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  EVENTS_PER_AGENT: '0',
  READS_PER_MINUTE: '0',
}

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

const roll = dice()

const get = async (url: string, token: string, path: string) => {
  const headers = { authorization: `Bearer ${token}` }
  return (await fetch(`${url}/api/agents/me${path}`, { headers })).json()
}

async function typesOf(url: string, { token }: Tokens): Promise<string[]> {
  const { events } = (await get(url, token, '/events?order=newest&limit=200')) as {
    events: { type: string }[]
  }
  return events.map(({ type }) => type)
}

const countOf = async (url: string, { token }: Tokens): Promise<number> =>
  ((await get(url, token, '')) as { memoryCount: number }).memoryCount

/** All that this home has logged. */
const eventsOf = ({ agent_id: id }: Tokens) =>
  `SELECT last_event FROM homes WHERE agent_id = '${id}'`

async function faultsOf(engine: EngineName, { directory, env }: Keeping) {
  const found =
    engine === 'sqlite'
      ? verifyFile(`${directory}/data/home.db`)
      : await verifyServer(env.DATABASE_URL ?? '', processTimers)
  return found.faults
}

const rollBack = (url: string, { operator_token }: Tokens) =>
  fetch(`${url}/api/agents/me/rollback`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator_token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ to: 1 }),
  }).then((response) => expect(response.status).toBe(200))

/** Kills the process once the home has so many events; false if the work was over before. */
async function killAt(
  keeping: Keeping,
  server: Server,
  tokens: Tokens,
  at: number,
  work: Promise<unknown>,
) {
  const ended = work.then(
    () => 'done',
    () => 'cut off',
  )
  const met = await reaches(keeping, eventsOf(tokens), at, ended).then(
    () => true,
    () => false,
  )
  await server.kill('SIGKILL')
  return met && (await ended) === 'cut off'
}

/** One that goes on beside, on the same database; nothing where only one process can. */
async function beside(engine: EngineName, keeping: Keeping) {
  return engine === 'postgres' ? [await serve({ ...keeping, env: { ...env, ...keeping.env } })] : []
}

test.each([
  { engine: 'sqlite', kills: 8 },
  { engine: 'postgres', kills: 3 },
] as const)('on $engine: wherever it is killed', async ({ engine, kills }) => {
  const keeping = await keepings[engine]()
  const start = () => serve({ ...keeping, env: { ...env, ...keeping.env } })
  const [other] = await beside(engine, keeping)
  let server = await start()
  const became = { takenBack: 0, finished: 0 }
  for (let n = 0; n < kills; n++) {
    const tokens = await birth(server.url)
    await writeMemory(server.url, tokens.token, { key: 'own', text: 'mine', expectedVersion: 0 })
    const at = 2 + roll(EVENTS)
    const isCut = await killAt(keeping, server, tokens, at, bring(server.url, tokens, FILE))
    server = await start()
    const [last] = await typesOf(server.url, tokens)
    const count = await countOf(server.url, tokens)
    if (other) expect(await countOf(other.url, tokens)).toBe(count)
    if (count === 1) became.takenBack++
    else expect([isCut, count, last]).toEqual([expect.anything(), FILE.keys + 1, 'end_import'])
    if (count > 1 || last === 'write') continue
    expect(last).toBe('undo_import')

    await bring(server.url, tokens, FILE)
    const end = (await get(server.url, tokens.token, '/events?order=newest&limit=1')) as {
      events: { id: number }[]
    }
    const from = (end.events[0]?.id ?? 0) + 1
    await killAt(keeping, server, tokens, from + roll(FILE.keys), rollBack(server.url, tokens))
    server = await start()
    const types = await typesOf(server.url, tokens)
    expect(types[0]).toBe('end_rollback')
    expect(await countOf(server.url, tokens)).toBe(1)
    became.finished++
  }
  expect(became.takenBack).toBeGreaterThan(0)
  expect(became.finished).toBeGreaterThan(0)
  await server.kill('SIGTERM')
  expect(await faultsOf(engine, keeping)).toEqual([])
})
