/** The service under test: the real process, without rates and quotas, and its agents. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { textOf } from './load/dialect.ts'
import { SERVER_CORE, saidUrl, spawnPinned, stop } from './process.ts'

// What is measured is what the sources say. Of the bench's processes, only the first finds it older.
execFileSync(process.execPath, ['build.ts', '--if-older'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: 'inherit',
})

export const SOURCES = fileURLToPath(new URL('../src/main.ts', import.meta.url))
export const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** As `npm start` has it. */
const V8 = ['--max-semi-space-size=8', '--disable-warning=ExperimentalWarning']

const unlimited = {
  MEMORIES_PER_AGENT: '0',
  BYTES_PER_AGENT: '0',
  READS_PER_MINUTE: '0',
  WRITES_PER_MINUTE: '0',
  EXPORTS_PER_MINUTE: '0',
  CONTROLS_PER_MINUTE: '0',
  BIRTHS_PER_HOUR_PER_ADDRESS: '0',
  BIRTHS_PER_HOUR: '0',
  CONNECTIONS_PER_ADDRESS: '0',
  STREAMS_PER_ADDRESS: '0',
}

export const homeEnv = (directory: string) => envOn(`sqlite:${join(directory, 'home.db')}`)

const envOn = (databaseUrl: string) => ({
  ...process.env,
  ...unlimited,
  PORT: '0',
  DATABASE_URL: databaseUrl,
})

interface Born {
  readonly agent_id: string
  readonly token: string
}

export interface RunningHome {
  readonly child: ChildProcess
  readonly url: URL
}

export const startHome = (directory: string, entry = MAIN): Promise<RunningHome> =>
  startHomeOn(`sqlite:${join(directory, 'home.db')}`, SERVER_CORE, entry)

/** On a database that is there, such as one that several nodes share. */
export async function startHomeOn(
  databaseUrl: string,
  core = SERVER_CORE,
  entry = MAIN,
): Promise<RunningHome> {
  const child = spawnPinned(core, [process.execPath, ...V8, entry], {
    env: envOn(databaseUrl),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, url: await saidUrl(child) }
}

async function bear(url: URL): Promise<Born> {
  const response = await fetch(new URL('/api/agents/birth', url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'idempotency-key': randomBytes(32).toString('hex'),
    },
    body: JSON.stringify({
      name: 'Bench',
      purpose: 'Measures.',
      symbol: 'zerno',
      operatorConsent: true,
    }),
  })
  if (!response.ok) throw new Error(`birth: ${await response.text()}`)
  return (await response.json()) as Born
}

/** Fewer than the service lets wait. */
const BORN_AT_ONCE = 256

export async function bearAll(url: URL, count: number): Promise<Born[]> {
  const born: Born[] = []
  while (born.length < count) {
    const group = Math.min(BORN_AT_ONCE, count - born.length)
    born.push(...(await Promise.all(Array.from({ length: group }, () => bear(url)))))
  }
  return born
}

/**
 * A home that holds this many memories of 1 KB, all at version 1: key n belongs to agent n modulo
 * their number. Its rows are written straight into the file, or it would take minutes.
 */
export async function fullHome(directory: string, agents: number, memories: number) {
  const first = await startHome(directory)
  const born = await bearAll(first.url, agents)
  await stop(first.child)
  insertMemories(join(directory, 'home.db'), born, memories)
  return { ...(await startHome(directory)), tokens: born.map(({ token }) => token) }
}

function insertMemories(path: string, born: readonly Born[], memories: number): void {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA synchronous = OFF; BEGIN')
  const insert = db.prepare(
    `INSERT INTO log (agent_id, key, id, event, version, author, updated_at, operation, memory_id,
       created_at, bytes, size, metadata, text)
     VALUES (?1, ?2, ?3, 'write', 1, '{"as":"agent","via":"api"}', ?5, 'write', ?4, ?5,
       octet_length(?6), octet_length(?6) + 2, '{}', ?6)`,
  )
  const now = Date.now()
  for (let n = 0; n < memories; n++) {
    const agentId = born[n % born.length]?.agent_id ?? ''
    const seq = 1 + Math.floor(n / born.length)
    insert.run(agentId, `k${n}`, seq, randomUUID(), now, textOf(n))
  }
  db.exec(`
    INSERT INTO memories (agent_id, key, id, version, created_at, updated_at, deleted, size, pinned,
        change, kept, n)
      SELECT agent_id, key, memory_id, 1, created_at, updated_at, 0, size, 0, id, 1, n
      FROM log ORDER BY agent_id, key;
    INSERT INTO log_index SELECT agent_id, id, n FROM log ORDER BY agent_id, id;
    UPDATE homes SET (memories, last_event, bytes) = (
      SELECT count(*), count(*), sum(l.size) FROM log_index i JOIN log l ON l.n = i.n
      WHERE i.agent_id = homes.agent_id
    );
    COMMIT; PRAGMA wal_checkpoint(TRUNCATE)`)
  db.close()
}
