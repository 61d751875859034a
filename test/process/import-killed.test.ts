/** A process that is killed while it writes an import ahead: nothing of it is there afterwards. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { birth, readMemory, writeMemory } from './calls.ts'
import { bring } from './exported.ts'
import { cleanUp, freshDirectory, serve } from './program.ts'

const FILE = { keys: 1_000, versions: 4, text: 'x'.repeat(16_380) }
/** Of 64 MiB; before, there are some kilobytes. */
const WRITTEN_BYTES = 16_000_000

afterEach(cleanUp)

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/** Rows of imports: of one that is not over there is nothing else. */
function importedRows(path: string): unknown {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return db.prepare('SELECT count(*) AS rows FROM log_index WHERE id < 0').get()?.rows
  } finally {
    db.close()
  }
}

test('what it had written is given up by the next, and the home is as it was', async () => {
  const directory = freshDirectory()
  const path = join(directory, 'data', 'home.db')
  const server = await serve({ directory })
  const tokens = await birth(server.url)
  await writeMemory(server.url, tokens.token, { key: 'own', text: 'mine', expectedVersion: 0 })
  const brought = bring(server.url, tokens, FILE).catch(() => 'cut off')
  while (bytesOf(path) + bytesOf(`${path}-wal`) < WRITTEN_BYTES) await pause(1)
  await server.kill('SIGKILL')
  expect(await brought).toBe('cut off')
  expect(importedRows(path)).toBeGreaterThan(100)

  const next = await serve({ directory })
  expect(importedRows(path)).toBe(0)
  const { memory } = await readMemory(next.url, tokens.token, 'own')
  expect(memory).toMatchObject({ text: 'mine', version: 1 })
  const headers = { authorization: `Bearer ${tokens.token}` }
  const events = await fetch(`${next.url}/api/agents/me/events`, { headers })
  expect(await events.json()).toMatchObject({ events: [{ type: 'write' }] })
}, 60_000)
