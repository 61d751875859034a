/**
 * SQLite alone, as a process of its own: writes in commits of up to 64, reads one by one.
 *
 *   node bench/contestants/sqlite-alone.ts <file> <operation> <connections> <seconds>
 */
import { DatabaseSync } from 'node:sqlite'
import { FILLED, type Operation, textOf } from '../load/dialect.ts'
import { gather } from '../load/sample.ts'

const LARGEST_GROUP = 64

const [path = ':memory:', operation = 'read', connections = '1', seconds = '1'] =
  process.argv.slice(2)
const group = Math.min(Number(connections), LARGEST_GROUP)

const db = new DatabaseSync(path)
db.exec(`
  PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS memories (
    agent_id INTEGER NOT NULL, key TEXT NOT NULL, text TEXT NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (agent_id, key)) STRICT`)

const AGENTS = 64
const insert = db.prepare('INSERT INTO memories VALUES (?, ?, ?, 1)')
const swap = db.prepare(
  'UPDATE memories SET text = ?, version = version + 1 WHERE agent_id = ? AND key = ? AND version = ?',
)
const select = db.prepare('SELECT version, text FROM memories WHERE agent_id = ? AND key = ?')
const at = (key: number) => [key % AGENTS, `k${key}`] as const

const count = Number(db.prepare('SELECT count(*) AS n FROM memories').get()?.n)
let created = count
let written = 0

const create = () => insert.run(...at(created++), textOf(written++))

function update(key: number): void {
  const version = Number(select.get(...at(key))?.version)
  swap.run(textOf(written++), ...at(key), version)
}

const random = () => Math.floor(Math.random() * FILLED)

const operations: Readonly<Record<Operation, () => unknown>> = {
  create,
  update: () => update(random()),
  hot: () => update(0),
  read: () => select.get(...at(random())),
}

function commit(work: () => unknown, size: number): void {
  db.exec('BEGIN IMMEDIATE')
  for (let i = 0; i < size; i++) work()
  db.exec('COMMIT')
}

if (count === 0) commit(create, FILLED)

const work = operations[operation as Operation]
const once = operation === 'read' ? work : () => commit(work, group)
const size = operation === 'read' ? 1 : group
const until = performance.now() + Number(seconds) * 1_000
const { add, finish } = gather()
while (performance.now() < until) {
  const startedAt = performance.now()
  once()
  const latency = performance.now() - startedAt
  for (let i = 0; i < size; i++) add(latency, 'saved')
}
process.stdout.write(JSON.stringify(finish()))
db.close()
