/**
 * kill -9 at random moments under 16 writers: nothing acknowledged is lost, nothing is torn, and
 * the process is ready again at once. `KILL_CYCLES` sets how often (10).
 */
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { faultsOf } from '../history/linearizable.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { birth } from './calls.ts'
import { cleanUp, freshDirectory, type Server, serve } from './program.ts'

const CYCLES = Number(process.env.KILL_CYCLES ?? 10)
const WRITERS = 16
const READY_WITHIN_MS = 5_000
/** Writers meet on these; each also has keys of its own. */
const SHARED = ['shared.0', 'shared.1', 'shared.2']
const own = (writer: number) => [`own.${writer}.0`, `own.${writer}.1`]
const everyKey = [...SHARED, ...Array.from({ length: WRITERS }, (_, writer) => own(writer)).flat()]

/** Neither rates nor quotas are what is measured here. */
const env = { WRITES_PER_MINUTE: '0', READS_PER_MINUTE: '0' }

afterEach(cleanUp)

const pick = <T>(items: readonly T[]): T => items[randomInt(items.length)] as T

/** Unique, and long enough to span pages, so that half of one would show. */
const payloadOf = (writer: number, count: number): string =>
  `${writer}/${count};`.repeat(randomInt(1, 800))

/** Writes until the first answer that does not come. */
async function writeUntilLost({ read, write }: Recorder, writer: number, from: number) {
  const keys = [...SHARED, ...own(writer)]
  const versions = new Map<string, number>()
  for (let count = from; ; count++) {
    const key = pick(keys)
    const version = versions.get(key) ?? (await read(key))?.version
    if (version === undefined) return
    const { outcome } = await write(key, version, payloadOf(writer, count))
    if (outcome.is === 'unknown') return
    if (outcome.is === 'saved') versions.set(key, outcome.version)
    if (outcome.is === 'conflict') versions.set(key, outcome.currentVersion)
  }
}

async function killUnderLoad(server: Server, record: Recorder): Promise<void> {
  const from = record.history.length
  const writers = Array.from({ length: WRITERS }, (_, i) => writeUntilLost(record, i, from))
  // The moment is what is random here; there is nothing to wait for.
  await setTimeout(randomInt(30, 400))
  await server.kill('SIGKILL')
  await Promise.all(writers)
}

async function ready(directory: string): Promise<{ server: Server; afterMs: number }> {
  const startedAt = performance.now()
  const server = await serve({ directory, env })
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
  return { server, afterMs: performance.now() - startedAt }
}

const readAll = (record: Recorder) => Promise.all(everyKey.map((key) => record.read(key)))

const memoryCount = async (url: string, token: string): Promise<unknown> => {
  const headers = { authorization: `Bearer ${token}` }
  const profile = await fetch(`${url}/api/agents/me`, { headers })
  return ((await profile.json()) as { memoryCount: unknown }).memoryCount
}

function integrityOf(directory: string): unknown[] {
  const db = new DatabaseSync(join(directory, 'data', 'home.db'), { readOnly: true })
  const rows = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return rows
}

test(
  `kill -9, ${CYCLES} times: no acknowledged write is lost and none is torn`,
  async () => {
    const directory = freshDirectory()
    let { server } = await ready(directory)
    const { token } = await birth(server.url)
    const record = recorder(() => server.url, token)
    const readyAfter: number[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      await killUnderLoad(server, record)
      const restarted = await ready(directory)
      server = restarted.server
      readyAfter.push(restarted.afterMs)
      await readAll(record)
    }
    expect(faultsOf(record.history)).toEqual([])
    expect(Math.max(...readyAfter)).toBeLessThan(READY_WITHIN_MS)

    const outcomes = record.history.map((o) => (o.kind === 'write' ? o.outcome.is : o.kind))
    expect(outcomes.filter((is) => is === 'saved').length).toBeGreaterThan(CYCLES * WRITERS)
    expect(outcomes).toContain('unknown')
    const kept = (await readAll(record)).filter((read) => read && read.version > 0)
    expect(await memoryCount(server.url, token)).toBe(kept.length)
    expect((await server.kill('SIGTERM')).code).toBe(0)
    expect(integrityOf(directory)).toEqual([{ integrity_check: 'ok' }])
  },
  30_000 + CYCLES * 5_000,
)
