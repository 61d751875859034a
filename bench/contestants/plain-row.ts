/**
 * The least that SQLite takes to keep a text: one row inserted, in commits of as many rows as there
 * are connections, at most 64. It measures itself in a process of its own.
 *
 *   node bench/contestants/plain-row.ts <directory> <connections> <seconds>
 */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openWriter, prepareTransact } from '../../src/store/sqlite/engine/connection.ts'
import type { Sample } from '../load/dialect.ts'
import { gather } from '../load/sample.ts'
import { PLAIN_ROW } from '../table.ts'
import { fewTexts, groupFor, printedBy } from './alone.ts'
import type { Contestant } from './contestant.ts'

function measure(directory: string, connections: number, seconds: number): Sample {
  const db = openWriter(join(directory, 'plain.db'))
  db.exec('CREATE TABLE IF NOT EXISTS plain (n INTEGER PRIMARY KEY, key TEXT, text TEXT) STRICT')
  const insert = db.prepare('INSERT INTO plain (key, text) VALUES (?, ?)')
  const transact = prepareTransact(db)
  const textAt = fewTexts()
  const group = groupFor(connections)
  const { add, finish } = gather()
  const until = performance.now() + seconds * 1_000
  for (let written = 0; performance.now() < until; written += group) {
    const startedAt = performance.now()
    transact(() => {
      for (let n = written; n < written + group; n++) insert.run(`k${n}`, textAt(n))
    })
    const latency = performance.now() - startedAt
    for (let n = 0; n < group; n++) add(latency, 'saved')
  }
  const sample = finish()
  db.close()
  return sample
}

const SCRIPT = fileURLToPath(import.meta.url)

export const plainRow: Contestant = {
  name: PLAIN_ROW,
  operations: ['create', 'update'],
  missing: () => undefined,
  start: async (directory) => ({
    async measure({ connections, seconds }) {
      const itself = await printedBy(SCRIPT, directory, `${connections}`, `${seconds}`)
      return { ...(JSON.parse(itself) as Sample), generator: 0 }
    },
    stop: async () => {},
  }),
}

if (import.meta.main) {
  const [directory = '', connections, seconds] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(measure(directory, Number(connections), Number(seconds))))
}
