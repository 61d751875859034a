/**
 * kill -9 at random moments under 16 writers that write, patch, append, edit, delete, restore, erase,
 * make batches, protect and roll back: nothing acknowledged is lost, nothing is torn, log and versions agree, and the next
 * process is ready with its start. `KILL_CYCLES` sets how often (10).
 */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { verifyFile } from '../../src/store/sqlite/check/verify.ts'
import type { Change as Asked } from '../asked.ts'
import { tell } from '../effort.ts'
import {
  changeBoth,
  chooseChange,
  type Knowledge,
  knownAfter,
  knownFrom,
  pick,
} from '../history/choose.ts'
import { faultsOf } from '../history/linearizable.ts'
import { isChange, versionMade } from '../history/operations.ts'
import { faultsOfProtections } from '../history/protections.ts'
import { type Recorder, recorder } from '../history/recorder.ts'
import { ask } from '../http/ask.ts'
import { birth } from '../process/calls.ts'
import { eventsOf, faultsOfLog, halves } from '../process/log.ts'
import { cleanUp, freshDirectory, type Server, serve } from '../process/program.ts'
import { dice } from '../seed.ts'

const CYCLES = Number(process.env.KILL_CYCLES ?? 10)
const WRITERS = 16
/** Writers meet on these; each also has keys of its own. */
const SHARED = ['shared.0', 'shared.1', 'shared.2']
/** One of these, which the operator protects and unprotects. */
const GUARDED = 'shared.0'
const own = (writer: number) => [`own.${writer}.0`, `own.${writer}.1`]
/** Of each writer, changed by batches and rolled back by its operator, alone. */
const pair = (writer: number) => [`pair.${writer}.left`, `pair.${writer}.right`] as const
/** Of each writer: what its operator erases. */
const erased = (writer: number) => `erased.${writer}`
const KINDS = ['write', 'patch', 'append', 'edit', 'delete', 'restore']
const writers = Array.from({ length: WRITERS }, (_, writer) => writer)
const everyKey = [
  ...SHARED,
  ...writers.flatMap((writer) => [...own(writer), ...pair(writer), erased(writer)]),
]

/** Neither rates nor quotas are what is measured here, and the log is read to its beginning. */
const env = {
  WRITES_PER_MINUTE: '0',
  READS_PER_MINUTE: '0',
  EVENTS_PER_AGENT: '0',
  CONTROLS_PER_MINUTE: '0',
}

afterEach(cleanUp)

const roll = dice()

/** Unique, and long enough to span pages, so that half of one would show. */
const payloadOf = (writer: number, count: number): string =>
  `${writer}/${count};`.repeat(1 + roll(799))

interface Hand {
  readonly record: Recorder
  readonly operator: string
  readonly writer: number
  /** What has to be seen to work before the last kill, and has not been yet. */
  readonly unseen: Set<string>
}

async function changeOf(hand: Hand, asked: Asked) {
  const { record, operator, writer, unseen } = hand
  const { key, kind, expectedVersion = 0 } = asked
  const [left, right] = pair(writer)
  if (key === erased(writer) && kind === 'delete') {
    const made = await record.erase(operator, key, expectedVersion)
    if (versionMade(made) !== undefined) unseen.delete('erase')
    return made
  }
  if (key === GUARDED) await record.protect(operator, key, roll(4) === 0)
  if (key === left && kind === 'restore') return rollBack(hand, asked)
  return key === left ? changeBoth(record, asked, right) : record.change(asked)
}

/** What the restore of a version would be, of both memories of a pair, where it can be found. */
async function rollBack(hand: Hand, asked: Extract<Asked, { kind: 'restore' }>) {
  const { record, operator, writer, unseen } = hand
  const [left, right] = pair(writer)
  const prefix = `pair.${writer}.`
  const to = await record.eventOf(right, asked.version)
  if (to === undefined) return changeBoth(record, asked, right)
  const both = [left, right].map((key) => ({ ...asked, key }))
  const [made] = await record.rollBack(operator, { prefix, to }, both)
  if (!made) throw new Error('a rollback was not recorded')
  if (versionMade(made) !== undefined) unseen.delete('rollback')
  return made
}

/** Changes until the first answer that does not come; says after each that comes that it came. */
async function changeUntilLost(hand: Hand, from: number, answered: () => void) {
  const { record, writer, unseen } = hand
  const keys = [...SHARED, ...own(writer), pair(writer)[0], erased(writer)]
  const known = new Map<string, Knowledge>()
  for (let count = from; ; count++) {
    const key = pick(keys)
    const read = known.has(key) ? undefined : await record.read(key)
    const knowledge = known.get(key) ?? (read && knownFrom(read))
    if (!knowledge) return
    const asked = chooseChange(key, knowledge, payloadOf(writer, count))
    const made = await changeOf(hand, asked)
    if (made.outcome.is === 'unknown') return
    unseen.delete(versionMade(made) === undefined ? made.outcome.is : made.kind)
    answered()
    known.set(key, knownAfter(made, knowledge.highest) ?? knowledge)
  }
}

async function killUnderLoad(
  server: Server,
  hand: Omit<Hand, 'writer'>,
  isLast: boolean,
): Promise<void> {
  const from = hand.record.history.length
  const { promise: enough, resolve } = Promise.withResolvers<void>()
  let left = WRITERS + roll(9 * WRITERS)
  const answered = () => {
    left -= 1
    if (left <= 0 && (!isLast || hand.unseen.size === 0)) resolve()
  }
  const changing = writers.map((writer) => changeUntilLost({ ...hand, writer }, from, answered))
  await enough
  // Into whatever is done then: the moment is what is random here, there is nothing to wait for.
  await setTimeout(roll(20))
  await server.kill('SIGKILL')
  await Promise.all(changing)
}

async function ready(directory: string): Promise<{ server: Server; afterMs: number }> {
  const startedAt = performance.now()
  const server = await serve({ directory, env })
  expect((await ask(`${server.url}/readyz`)).status).toBe(200)
  return { server, afterMs: Math.round(performance.now() - startedAt) }
}

const readAll = (record: Recorder) => Promise.all(everyKey.map((key) => record.read(key)))

const memoryCount = async (url: string, token: string): Promise<unknown> => {
  const headers = { authorization: `Bearer ${token}` }
  const { text } = await ask(`${url}/api/agents/me`, { headers })
  return (JSON.parse(text) as { memoryCount: unknown }).memoryCount
}

function integrityOf(directory: string): unknown[] {
  const db = new DatabaseSync(join(directory, 'data', 'home.db'), { readOnly: true })
  const rows = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return [...rows, ...verifyFile(join(directory, 'data', 'home.db')).faults]
}

function tally(history: Recorder['history']): Record<string, number> {
  const count: Record<string, number> = {}
  for (const change of history.filter(isChange)) {
    const isMade = versionMade(change) !== undefined
    const names = isMade ? [change.kind, 'answered'] : [change.outcome.is]
    for (const name of names) count[name] = (count[name] ?? 0) + 1
  }
  return count
}

test(
  `kill -9, ${CYCLES} times: no acknowledged change is lost and none is torn`,
  async () => {
    const directory = freshDirectory()
    let { server } = await ready(directory)
    const { token, operator_token: operator } = await birth(server.url)
    const record = recorder(() => server.url, token)
    const unseen = new Set([...KINDS, 'erase', 'rollback', 'protected'])
    const readyAfter: number[] = []
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      await killUnderLoad(server, { record, operator, unseen }, cycle === CYCLES - 1)
      const restarted = await ready(directory)
      server = restarted.server
      readyAfter.push(restarted.afterMs)
      await readAll(record)
    }
    expect(faultsOf(record.history)).toEqual([])
    expect(faultsOfProtections(record.history, record.protections)).toEqual([])
    await tell('ready again after kill -9, in ms', () => readyAfter)

    expect(await faultsOfLog(server.url, token, record.history)).toEqual([])
    const events = await eventsOf(server.url, token)
    const done = new Set(events.map(({ type }) => type))
    expect(['erase', 'rollback', 'protect'].filter((type) => !done.has(type))).toEqual([])
    expect(writers.flatMap((writer) => halves(events, ...pair(writer)))).toEqual([])

    const made = tally(record.history)
    expect(KINDS.filter((kind) => !made[kind])).toEqual([])
    expect(made.answered).toBeGreaterThan(CYCLES * WRITERS)
    expect(made.unknown).toBeGreaterThan(0)
    expect(made.protected).toBeGreaterThan(0)
    const kept = (await readAll(record)).filter((read) => read && read.version > 0)
    expect(await memoryCount(server.url, token)).toBe(kept.length)
    expect((await server.kill('SIGTERM')).code).toBe(0)
    expect(integrityOf(directory)).toEqual([{ integrity_check: 'ok' }])
  },
  CYCLES * 180_000,
)
