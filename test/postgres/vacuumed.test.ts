/** What is erased is vacuumed before that is answered: until then its rows are in the files. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Identity } from '../../src/store/port/identity.ts'
import { statement } from '../../src/store/postgres/engine/connections.ts'
import { type Opened, openBeside } from './opened.ts'

let opened: Opened
beforeAll(async () => {
  opened = await openBeside(2)
})
afterAll(() => opened.close())

const counts = statement<{ name: string; vacuums: number }>(`
  SELECT relname AS name, pg_stat_get_vacuum_count(oid) AS vacuums FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::REGNAMESPACE`)

const vacuums = async (): Promise<ReadonlyMap<string, number>> =>
  new Map((await opened.connections.read(counts)).map((row) => [row.name, row.vacuums]))

/** The tables that the work vacuums. */
async function vacuumedBy(work: () => Promise<{ readonly outcome: string }>): Promise<string[]> {
  const before = await vacuums()
  expect((await work()).outcome).toBe('erased')
  const after = await vacuums()
  return [...after].flatMap(([name, count]) => (count > (before.get(name) ?? 0) ? [name] : []))
}

async function written(): Promise<{ agent: Identity; operator: Identity }> {
  const { agent, operator } = await opened.fixture.agent()
  await opened.fixture.write(agent, { text: 'one' })
  await opened.fixture.write(agent, { text: 'two', expectedVersion: 1 })
  return { agent, operator }
}

test.each([['all'], ['history'], [[1]]] as const)(
  'what is erased of a memory is vacuumed: %s',
  async (versions) => {
    const { operator } = await written()
    const erase = () => opened.fixture.store().eraseMemory(operator, 'plan', versions, 0)
    expect(await vacuumedBy(erase)).toContain('log')
  },
)

test('what was an agent is vacuumed, its name and its keys too', async () => {
  const { operator } = await written()
  const erased = await vacuumedBy(() => opened.fixture.store().eraseAgent(operator, 0))
  expect(erased).toEqual(
    expect.arrayContaining(['agents', 'credentials', 'log', 'memories', 'oauth_records']),
  )
})
