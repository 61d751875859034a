/**
 * The least that SQLite takes to keep a text: one row inserted, in commits of as many rows as there
 * are connections, at most 64. It measures itself in a process of its own.
 *
 *   node bench/contestants/plain-row.ts <directory> <connections> <seconds>
 */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openWriter } from '../../src/store/sqlite/engine/connection.ts'
import { type Sample, textOf } from '../load/dialect.ts'
import { gather } from '../load/sample.ts'
import { pinned, SERVER_CORE } from '../process.ts'
import { PLAIN_ROW } from '../table.ts'
import type { Contestant } from './contestant.ts'

const LARGEST_GROUP = 64
const FEW_TEXTS = 512

function measure(directory: string, connections: number, seconds: number): Sample {
  const db = openWriter(join(directory, 'plain.db'))
  db.exec('CREATE TABLE IF NOT EXISTS plain (n INTEGER PRIMARY KEY, key TEXT, text TEXT) STRICT')
  const insert = db.prepare('INSERT INTO plain (key, text) VALUES (?, ?)')
  const [begin, commit] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT')]
  const texts = Array.from({ length: FEW_TEXTS }, (_, n) => textOf(n))
  const group = Math.min(connections, LARGEST_GROUP)
  const { add, finish } = gather()
  const until = performance.now() + seconds * 1_000
  for (let written = 0; performance.now() < until; written += group) {
    const startedAt = performance.now()
    begin.run()
    for (let n = written; n < written + group; n++) insert.run(`k${n}`, texts[n % FEW_TEXTS] ?? '')
    commit.run()
    const latency = performance.now() - startedAt
    for (let n = 0; n < group; n++) add(latency, 'saved')
  }
  const sample = finish()
  db.close()
  return sample
}

const SCRIPT = fileURLToPath(import.meta.url)
const run = promisify(execFile)

export const plainRow: Contestant = {
  name: PLAIN_ROW,
  operations: ['create', 'update'],
  missing: () => undefined,
  start: async (directory) => ({
    async measure({ connections, seconds }) {
      const command = [process.execPath, SCRIPT, directory, `${connections}`, `${seconds}`]
      const [program = '', ...args] = pinned(SERVER_CORE, command)
      const { stdout } = await run(program, args)
      return { ...(JSON.parse(stdout) as Sample), generator: 0 }
    },
    stop: async () => {},
  }),
}

if (import.meta.main) {
  const [directory = '', connections, seconds] = process.argv.slice(2)
  process.stdout.write(JSON.stringify(measure(directory, Number(connections), Number(seconds))))
}
