/** A storage that fails while an export is read: what was cut off is never sent. */
import { truncateSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { engines, inGroups, openService, type TestDatabase, write } from '../harness.ts'
import { expectProblem } from '../problem.ts'

/** Pages of the log that were not read yet are gone. */
async function loseLog({ url }: TestDatabase): Promise<void> {
  truncateSync(`${url.replace('sqlite:', '')}-wal`, 0)
}

/** The server ends the connection that the snapshot is read on. */
async function endSnapshots({ url }: TestDatabase): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ ended: boolean }>(
    `SELECT pg_terminate_backend(pid, 5000) AS ended FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'agent-home export'`,
  )
  await client.end()
  expect(rows).toEqual([{ ended: true }])
}

const failures: Readonly<Record<string, (database: TestDatabase) => Promise<void>>> = {
  sqlite: loseLog,
  postgres: endSnapshots,
}

/** Something happens once the first of them were read. */
async function* broken<T>(
  batches: AsyncIterable<T>,
  breakIt: () => Promise<void> | undefined,
): AsyncGenerator<T> {
  let isFirst = true
  for await (const batch of batches) {
    yield batch
    if (isFirst) await breakIt()
    isFirst = false
  }
}

test.each(engines)('a snapshot that breaks off is no export ($name)', async (engine) => {
  const database = await engine.fresh()
  const service = await openService({ ...engine, fresh: async () => database })
  const { token } = await service.birth()
  const keys = Array.from({ length: 60 }, (_, n) => `k${n}`)
  await inGroups(keys, (key) => write(service, token, key, 'x'.repeat(16_000)))
  const open = service.store.exportMemories
  service.store.exportMemories = async (identity) => {
    const answer = await open(identity)
    if (answer.outcome !== 'export') throw new Error(`the export was ${answer.outcome}`)
    return { ...answer, memories: broken(answer.memories, () => failures[engine.name]?.(database)) }
  }
  expectProblem(
    await service.call('GET', '/api/agents/me/export', { token }),
    'storage_unavailable',
  )
  // It is no export under way that stands in the way of the next.
  service.store.exportMemories = open
  const { body } = await service.call('GET', '/api/agents/me/export', { token })
  expect(body.code).not.toBe('export_running')
  await service.close()
})
