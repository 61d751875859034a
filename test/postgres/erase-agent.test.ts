/** An agent is gone with one short transaction; what is left of it is erased after that, in slices. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ImportSource } from '../../src/store/port/transfer.ts'
import { statement, unprepared } from '../../src/store/postgres/engine/connections.ts'
import { type Opened, openBeside } from './opened.ts'

let opened: Opened
beforeAll(async () => {
  opened = await openBeside(2)
})
afterAll(() => opened.close())

const counts = statement<{ memories: number; log: number; marks: number }>(`
  SELECT (SELECT count(*) FROM memories WHERE agent_id = $1) AS memories,
    (SELECT count(*) FROM log WHERE agent_id = $1) AS log,
    (SELECT count(*) FROM erased_agents WHERE agent_id = $1) AS marks`)

/** The first slice of the log, and with it the verb. */
const failing = [
  `CREATE FUNCTION refuse() RETURNS TRIGGER LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'no more'; END $$`,
  'CREATE TRIGGER refuse BEFORE DELETE ON log FOR EACH STATEMENT EXECUTE FUNCTION refuse()',
].map((sql) => unprepared(sql))

const working = unprepared('DROP FUNCTION refuse CASCADE')

const REPLACE = { onConflict: 'replace', dryRun: false } as const

const brought: ImportSource = {
  async *[Symbol.asyncIterator]() {
    const facts = { key: 'brought', id: randomUUID(), operation: 'write', by: undefined } as const
    const rest = { createdAt: 0, updatedAt: 0, content: { text: 'x', metadata: '{}' } }
    yield [1, 2].map((version) => ({ ...facts, ...rest, version }))
  },
}

async function filled() {
  const { agent, operator } = await opened.fixture.agent()
  const changes = Array.from({ length: 300 }, (_, n) => ({
    ...{ verb: 'write', id: operator.agentId, key: `k${n}`, text: 'x', metadata: '{}' },
    expectedVersion: 0,
  })) as Parameters<typeof change>[1]
  const { changeMemories: change } = opened.fixture.store()
  await change(agent, changes, 0)
  await opened.fixture.store().importMemories(operator, brought, REPLACE, 0)
  return { agent, operator }
}

const leftOf = async (agentId: string) => (await opened.connections.read(counts, agentId))[0]

const NOTHING = { memories: 0, log: 0, marks: 0 }

test('nothing is left of it when that is answered', async () => {
  const { operator } = await filled()
  expect(await leftOf(operator.agentId)).toEqual({ memories: 301, log: 304, marks: 0 })
  expect(await opened.fixture.store().eraseAgent(operator, 0)).toEqual({ outcome: 'erased' })
  expect(await leftOf(operator.agentId)).toEqual(NOTHING)
})

test('a node that ends in between leaves what the next start erases; nobody sees it', async () => {
  const { agent, operator } = await filled()
  for (const each of failing) await opened.connections.write(each)
  await expect(opened.fixture.store().eraseAgent(operator, 0)).rejects.toThrow()
  await opened.connections.write(working)
  expect(await leftOf(operator.agentId)).toEqual({ memories: 0, log: 304, marks: 1 })
  expect(await opened.fixture.store().readMemory(agent, 'k1')).toEqual({ outcome: 'revoked' })
  expect(await opened.fixture.store().identify(operator.tokenHash)).toBeUndefined()
  await opened.fixture.restart()
  expect(await leftOf(operator.agentId)).toEqual(NOTHING)
})
