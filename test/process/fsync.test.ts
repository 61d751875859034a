/**
 * Is every acknowledged change on the disk when its answer leaves? Asked of the kernel: strace shows
 * in which order the process wrote its log, synced it, and answered.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { recorder } from '../history/recorder.ts'
import { birth, eraseMemory } from './calls.ts'
import { changeInEveryWay, WAYS } from './every-change.ts'
import { cleanUp, freshDirectory, type Launch, launch, serve } from './program.ts'

const ROUNDS = 2
/** With an erasure in each round. */
const CHANGES = ROUNDS * (WAYS + 1)
const CALLS = 'trace=pwrite64,pwritev,fsync,fdatasync,write,writev,sendto,sendmsg,rename'

afterEach(cleanUp)

const probe = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'])
const cannotTrace = probe.error?.message ?? (probe.status === 0 ? '' : `${probe.stderr}`.trim())
if (cannotTrace) process.stdout.write(`skipped: the order of system calls (${cannotTrace})\n`)

interface Acknowledgements {
  readonly durable: number
  /** Sent while bytes of the log were in memory alone. */
  readonly early: number
}

/** Reads a trace of changes that were sent one after the other. */
function acknowledgements(trace: string): Acknowledgements {
  let unsynced = false
  const count = { durable: 0, early: 0 }
  /** Threads that are inside a sync of the log. */
  const syncing = new Set<string>()
  for (const line of trace.split('\n')) {
    const [thread = '', call = ''] = line.split(/\s+(.*)/)
    if (/^pwrite\w*\(\d+<[^>]*-wal>/.test(call)) unsynced = true
    if (/^f(data)?sync\(\d+<[^>]*-wal>/.test(call)) {
      if (call.endsWith('= 0')) unsynced = false
      else syncing.add(thread)
    }
    if (/^<\.\.\. f(data)?sync resumed>.*= 0$/.test(call) && syncing.delete(thread))
      unsynced = false
    if (call.includes('"HTTP/1.1 200 ')) count[unsynced ? 'early' : 'durable']++
  }
  return count
}

async function acknowledged(options: Omit<Launch, 'directory'> = {}): Promise<Acknowledgements> {
  const directory = freshDirectory()
  const trace = join(directory, 'trace')
  // -D leaves the program our child; -y names the file behind each descriptor.
  const under = ['strace', '-D', '-f', '-y', '-s', '32', '-e', CALLS, '-o', trace]
  const server = await serve({ directory, under, ...options })
  const { token, operator_token: operator } = await birth(server.url)
  const record = recorder(() => server.url, token)
  for (let round = 0; round < ROUNDS; round++) {
    await changeInEveryWay(record, `k${round}`)
    await eraseMemory(server.url, operator, `k${round}`)
  }
  await server.kill('SIGTERM')
  return acknowledgements(readFileSync(trace, 'utf8'))
}

describe.skipIf(cannotTrace)('before an answer leaves', () => {
  test('the log that holds its change is synced', async () => {
    expect(await acknowledged()).toEqual({ durable: CHANGES, early: 0 })
  })

  test('and this check fails when synchronous is lowered', async () => {
    const lowered = new URL('lowered.ts', import.meta.url)
    const env = { NODE_OPTIONS: `--import=${lowered}` }
    // An erasure empties the log, which syncs it whatever a commit does.
    expect(await acknowledged({ env })).toEqual({ durable: ROUNDS, early: CHANGES - ROUNDS })
  })
})

/** What was done to a file until it had its name, one after the other. */
function stepsTo(file: string, trace: string): string[] {
  const lines = trace.split('\n').map((line) => line.split(/\s+(.*)/))
  const quoted = `"${file}"`
  const [, named = ''] = lines.find(([, call]) => call?.includes(`, ${quoted}`)) ?? []
  const [, from = ''] = /"([^"]+)"/.exec(named) ?? []
  const steps: string[] = []
  /** What is not over yet, by thread. */
  const begun = new Map<string, string>()
  for (const [thread = '', call = ''] of lines) {
    const [, name = '', on = ''] = /^(\w+)\((?:\d+<([^>]*)>)?/.exec(call) ?? []
    const about = { [from]: 'file', [dirname(file)]: 'directory' }[on]
    const isSync = /^f(data)?sync$/.test(name)
    let step = about && (isSync ? `sync ${about}` : `write ${about}`)
    if (name === 'rename' && call.includes(quoted)) step = 'rename'
    if (step && call.endsWith('<unfinished ...>')) begun.set(thread, step)
    else if (/^<\.\.\. \w+ resumed>/.test(call)) {
      step = begun.get(thread)
      begun.delete(thread)
    }
    const isOver = step && !begun.has(thread) && !/= -1 /.test(call)
    if (step && isOver && steps.at(-1) !== step) steps.push(step)
  }
  return steps
}

describe.skipIf(cannotTrace)('before a command says that a file is there', () => {
  const TO_LAST = ['write file', 'sync file', 'rename', 'sync directory']

  async function traced(directory: string, env: Record<string, string>, ...args: string[]) {
    const trace = join(directory, 'trace')
    const under = ['strace', '-D', '-f', '-y', '-s', '300', '-e', CALLS, '-o', trace]
    const { code, output } = await launch({ directory, under, env, args }).ended
    expect({ code, output }).toMatchObject({ code: 0 })
    return readFileSync(trace, 'utf8')
  }

  let home: OpenedHome
  beforeAll(async () => {
    home = await openHome()
  })
  afterAll(() => home.close())

  test('a backup is on the disk, with its name', async () => {
    const directory = realpathSync(freshDirectory())
    const env = { DATABASE_URL: `sqlite:${home.service.store.location}` }
    const trace = await traced(directory, env, 'backup', 'copy.db')
    expect(stepsTo(join(directory, 'copy.db'), trace).slice(-4)).toEqual(TO_LAST)
  })

  test('an export is on the disk, and so is a token that was saved', async () => {
    const directory = realpathSync(freshDirectory())
    const { url } = home
    const env = { XDG_CONFIG_HOME: directory }
    const said = ['--url', url, '--name', 'A', '--purpose', 'B', '--symbol', 'zerno']
    const saving = ['birth', ...said, '--operator-consent', '--save', 'me']
    const profiles = join(directory, 'agent-home', 'profiles.json')
    expect(stepsTo(profiles, await traced(directory, env, ...saving)).slice(-4)).toEqual(TO_LAST)
    const exporting = ['export', 'mine.json', '--profile', 'me']
    const trace = await traced(directory, env, ...exporting)
    expect(stepsTo(join(directory, 'mine.json'), trace).slice(-4)).toEqual(TO_LAST)
  })
})

test('the steps to a file are read by their order', () => {
  const write = '9 write(20</d/x.part/x>, "a", 1) = 1'
  const begun = '9 fsync(20</d/x.part/x> <unfinished ...>'
  const ended = '9 <... fsync resumed>) = 0'
  const failed = '9 fsync(20</d/x.part/x>) = -1 EIO (Input/output error)'
  const rename = '1 rename("/d/x.part/x", "/d/x") = 0'
  const directory = '1 fsync(20</d>) = 0'
  const read = (...lines: string[]) => stepsTo('/d/x', lines.join('\n'))
  const whole = ['write file', 'sync file', 'rename', 'sync directory']
  expect(read(write, write, begun, ended, rename, directory)).toEqual(whole)
  expect(read(write, begun, rename, ended)).toEqual(['write file', 'rename', 'sync file'])
  expect(read(write, failed, rename)).toEqual(['write file', 'rename'])
})

test('a trace is read by its order', () => {
  const wal = '17</data/home.db-wal>'
  const written = `9 pwrite64(${wal}, ""..., 4096, 0) = 4096`
  const synced = `9 fdatasync(${wal}) = 0`
  const begun = `9 fdatasync(${wal} <unfinished ...>`
  const ended = '9 <... fdatasync resumed>) = 0'
  const failed = '9 <... fdatasync resumed>) = -1 EIO (Input/output error)'
  const answered = '1 write(20<socket:[1]>, "HTTP/1.1 200 OK"..., 300) = 300'
  const read = (...lines: string[]) => acknowledgements(lines.join('\n'))
  expect(read(written, synced, answered)).toEqual({ durable: 1, early: 0 })
  expect(read(written, begun, ended, answered)).toEqual({ durable: 1, early: 0 })
  expect(read(written, begun, answered, ended)).toEqual({ durable: 0, early: 1 })
  expect(read(written, begun, failed, answered)).toEqual({ durable: 0, early: 1 })
  expect(read(written, answered, synced)).toEqual({ durable: 0, early: 1 })
})
