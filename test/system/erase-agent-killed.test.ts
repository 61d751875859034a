/** A process that is killed while it erases an agent: the agent is gone, and all of it with the next. */
import { afterEach, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from '../process/calls.ts'
import { keepings, numberOf, reaches } from '../process/databases.ts'
import { bring } from '../process/exported.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, serve } from '../process/program.ts'

const FILE = { keys: 1_000, versions: 50, text: 'x'.repeat(20) }

const MARKED = 'SELECT count(*) FROM erased_agents'

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

test.each(['sqlite', 'postgres'] as const)(
  'on %s the next start erases the rest',
  async (engine) => {
    const keeping = await keepings[engine]()
    const server = await serve(keeping)
    const other = await birth(server.url)
    await writeMemory(server.url, other.token, { key: 'own', text: 'mine', expectedVersion: 0 })
    const { agent_id, token, operator_token } = await birth(server.url)
    await bring(server.url, { agent_id, token, operator_token }, FILE)

    const left = async (table: string) =>
      numberOf(keeping, `SELECT count(*) FROM ${table} WHERE agent_id = '${agent_id}'`)
    const headers = {
      authorization: `Bearer ${operator_token}`,
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ agent_id })
    const erased = fetch(`${server.url}/api/agents/me/erase`, { method: 'POST', headers, body })
    const answer = erased.then(({ status }) => status).catch(() => 'cut off')
    await reaches(keeping, MARKED, 1, answer)
    await server.kill('SIGKILL')
    expect(await answer).toBe('cut off')
    expect([await left('credentials'), await left('homes')]).toEqual([0, 0])
    expect(await left('log')).toBeGreaterThan(0)

    const next = await serve(keeping)
    expect(await numberOf(keeping, MARKED)).toBe(0)
    expect([await left('memories'), await left('log')]).toEqual([0, 0])
    await expect(readMemory(next.url, token, 'k00001')).rejects.toThrow('401')
    const { memory } = await readMemory(next.url, other.token, 'own')
    expect(memory).toMatchObject({ text: 'mine', version: 1 })
  },
)
