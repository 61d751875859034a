/** The embedded engine's count of what it holds, beside the transactions that change it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { prepareTotals } from '../../src/store/sqlite/engine/totals.ts'
import { migrate } from '../../src/store/sqlite/schema/migrations.ts'
import { temporaryDirectory } from '../harness.ts'

function openTotals() {
  const directory = temporaryDirectory()
  const db = openWriter(join(directory, 'home.db'))
  migrate(db, directory)
  onTestFinished(() => {
    if (db.isOpen) db.close()
    rmSync(directory, { recursive: true })
  })
  const addAgent = () =>
    db.exec(`INSERT INTO agents (agent_id, name, purpose, symbol, status, created_at, updated_at)
      VALUES ('a', 'Atlas', 'Is counted.', 'zerno', 'active', 0, 0);
      INSERT INTO homes (agent_id, memories, head, base) VALUES ('a', 3, x'', x'')`)
  return { db, addAgent, totals: prepareTotals(db) }
}

test('what a transaction adds counts once it is committed, and not if it is undone', () => {
  const { totals } = openTotals()
  expect(totals.count()).toMatchObject({ agents: 0, memories: 0 })
  totals.tally.born()
  totals.tally.created(1)
  totals.undone(undefined)
  totals.tally.created(1)
  expect(totals.count()).toMatchObject({ agents: 0, memories: 0 })
  totals.committed()
  totals.committed()
  expect(totals.count()).toMatchObject({ agents: 0, memories: 1 })
})

test('agents are looked at once, and again after a commit of which nobody knows', () => {
  const { addAgent, totals } = openTotals()
  totals.count()
  addAgent()
  totals.undone('unavailable')
  expect(totals.count()).toMatchObject({ agents: 0, memories: 0 })
  totals.undone('unknown')
  expect(totals.count()).toMatchObject({ agents: 1, memories: 3 })
})

test('a storage that does not answer is asked again', () => {
  const { db, totals } = openTotals()
  db.close()
  expect(totals.count()).toBeUndefined()
})
