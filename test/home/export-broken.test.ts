/** A storage that fails while an export is on its way: what was cut off never looks whole. */
import { truncateSync } from 'node:fs'
import pg from 'pg'
import { expect, test } from 'vitest'
import { engines, incomingOf, inGroups, openService, type TestDatabase, write } from '../harness.ts'

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

test.each(engines)('an export that breaks off ends in an error ($name)', async (engine) => {
  const database = await engine.fresh()
  const service = await openService({ ...engine, fresh: async () => database })
  const { token } = await service.birth()
  const keys = Array.from({ length: 60 }, (_, n) => `k${n}`)
  await inGroups(keys, (key) => write(service, token, key, 'x'.repeat(16_000)))
  const incoming = incomingOf('GET', '/api/agents/me/export', { token })
  const { status, body } = await service.app.serve(incoming)
  if (body === null || typeof body === 'string') throw new Error('it is not streamed')
  expect(status).toBe(200)
  let text = ''
  const readToTheEnd = async () => {
    for await (const piece of body.pieces) {
      if (text === '') await failures[engine.name]?.(database)
      text += piece
    }
  }
  await expect(readToTheEnd()).rejects.toThrow()
  body.close()
  expect(text).toContain('"memories":[')
  expect(() => JSON.parse(text)).toThrow()
  expect(service.logged.filter((line) => line.includes('"failed"'))).toHaveLength(1)
  await service.close()
})
