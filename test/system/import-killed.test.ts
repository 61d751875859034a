/** A process that is killed while it writes an import ahead: nothing of it is there afterwards. */
import { afterEach, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from '../process/calls.ts'
import { type EngineName, keepings, numberOf, reaches } from '../process/databases.ts'
import { bring } from '../process/exported.ts'
import { dropDatabases } from '../process/nodes.ts'
import { cleanUp, serve } from '../process/program.ts'

const FILE = { keys: 900, versions: 50, text: 'x'.repeat(20) }
/** Of 45,000: however late it is noticed, much is still to be written. */
const WRITTEN_ROWS = 500

/** Rows of imports: of one that is not over there is nothing else. */
const IMPORTED: Readonly<Record<EngineName, string>> = {
  sqlite: 'SELECT count(*) FROM log_index WHERE id < 0',
  postgres: 'SELECT count(*) FROM log WHERE n < 0',
}

const MARKED = 'SELECT count(*) FROM staged_imports'

/** Other nodes may go on: only one that was silent for a minute, by the server's clock, has ended. */
const SILENCE = 'UPDATE staged_imports SET touched_at = touched_at - 60000'

afterEach(async () => {
  await cleanUp()
  await dropDatabases()
})

test.each(['sqlite', 'postgres'] as const)(
  'on %s what it had written is given up by the next, and the home is as it was',
  async (engine) => {
    const keeping = await keepings[engine]()
    const imported = IMPORTED[engine]
    const server = await serve(keeping)
    const tokens = await birth(server.url)
    await writeMemory(server.url, tokens.token, { key: 'own', text: 'mine', expectedVersion: 0 })
    const brought = bring(server.url, tokens, FILE).catch(() => 'cut off')
    await reaches(keeping, imported, WRITTEN_ROWS, brought)
    await server.kill('SIGKILL')
    expect(await brought).toBe('cut off')
    expect(await numberOf(keeping, imported)).toBeGreaterThanOrEqual(WRITTEN_ROWS)
    expect(await numberOf(keeping, MARKED)).toBe(1)
    if (engine === 'postgres') await keeping.ask(SILENCE)

    const next = await serve(keeping)
    expect([await numberOf(keeping, imported), await numberOf(keeping, MARKED)]).toEqual([0, 0])
    const { memory } = await readMemory(next.url, tokens.token, 'own')
    expect(memory).toMatchObject({ text: 'mine', version: 1 })
    const headers = { authorization: `Bearer ${tokens.token}` }
    const events = await fetch(`${next.url}/api/agents/me/events`, { headers })
    expect(await events.json()).toMatchObject({ events: [{ type: 'write' }] })
    const list = await fetch(`${next.url}/api/agents/me/memories`, { headers })
    expect(await list.json()).toMatchObject({ memories: [{ key: 'own' }], next: null })
  },
)
