/** `agent-home hook` as programs run it: a process that ends by itself, with 0, in time. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { readTroubles, recordTrouble } from '../../src/cli/remote/hook/log.ts'
import { repositoryOf } from '../../src/cli/remote/hook/repository.ts'
import {
  readState,
  saveState,
  stateFile,
  sweepStates,
} from '../../src/cli/remote/hook/session-state.ts'
import { freshFolder, removeFolders } from '../cli/sync.ts'
import { type OpenedHome, openHome } from '../client/opened.ts'
import { timesPromised } from '../effort.ts'
import { cleanUp, freshDirectory, pinnedNode, programCommand } from './program.ts'

let opened: OpenedHome
beforeAll(async () => {
  opened = await openHome()
})
afterAll(async () => {
  await cleanUp()
  await opened.close()
  removeFolders()
})

interface Started {
  readonly env?: Readonly<Record<string, string>>
  readonly args: readonly string[]
  /** What is sent, and whether the input then stays open. */
  readonly sent?: string
  readonly staysOpen?: boolean
  /** As it is, unless told: a machine that is busy decides what it has time for. */
  readonly program?: readonly string[]
  /** Whether the log is of interest. */
  readonly tells?: boolean
}

function logIn(config: string): string {
  const path = join(config, 'agent-home/hooks.log')
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

const patient = [pinnedNode, join(import.meta.dirname, 'patient-hook.ts')]

/** A hook that does not end waits for the end of the test. */
async function hook({ env = {}, args, sent = '', staysOpen = false, ...rest }: Started) {
  const config = freshDirectory()
  const [command = '', ...own] = rest.program ?? programCommand()
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
  const child = spawn(command, [...own, 'hook', ...args], {
    cwd: freshDirectory(),
    env: { PATH, NODE_COMPILE_CACHE, XDG_CONFIG_HOME: config, ...env },
  })
  const texts = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.toArray()).join('')),
  )
  // A hook that wants no input may be gone.
  child.stdin.on('error', () => {})
  if (staysOpen) child.stdin.write(sent)
  else child.stdin.end(sent)
  const [code, signal] = await once(child, 'close')
  const [stdout = '', stderr = ''] = await texts
  return { code, signal, stdout, stderr, ...(rest.tells && { log: logIn(config) }) }
}

const SILENT = { code: 0, signal: null, stdout: '', stderr: '' }

const payload = (more = {}) => JSON.stringify({ session_id: 's', cwd: freshDirectory(), ...more })

const START = ['SessionStart', '--client', 'codex']

const at = async (url = opened.url) => {
  const { home, token } = await opened.born()
  return { home, env: { AGENT_HOME_URL: url, AGENT_HOME_TOKEN: token } }
}

describe.concurrent('a hook ends by itself, with 0', () => {
  test('and prints what a program takes', async () => {
    const { home, env } = await at()
    await home.write('who', 'Answer briefly.', { expectedVersion: 0, metadata: { pinned: true } })
    const { code, stdout, stderr } = await hook({
      env,
      args: START,
      sent: payload(),
      program: patient,
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('Answer briefly.')
  })

  test('if the input stays open, whatever was sent', async () => {
    const { home, env } = await at()
    await home.write('who', 'Answer briefly.', { expectedVersion: 0, metadata: { pinned: true } })
    const open = (sent: string) => hook({ env, args: START, sent, staysOpen: true })
    const complete = { env, args: START, sent: payload(), staysOpen: true, program: patient }
    expect((await hook(complete)).stdout).toContain('Answer briefly.')
    expect(await Promise.all(['', '{"session_id":'].map(open))).toEqual([SILENT, SILENT])
  })

  test('if the home never answers, or stops in the middle', async () => {
    const mute = createSocketServer(() => {}).listen(0, '127.0.0.1')
    const half = createServer((_, response) => response.writeHead(200).write('{"pinned":['))
    half.listen(0, '127.0.0.1')
    await Promise.all([once(mute, 'listening'), once(half, 'listening')])
    for (const server of [mute, half]) {
      const { port } = server.address() as AddressInfo
      const { env } = await at(`http://127.0.0.1:${port}`)
      expect(await hook({ env, args: START, sent: payload() })).toEqual(SILENT)
    }
    half.closeAllConnections()
    for (const server of [mute, half]) server.close()
  })

  test('if there is no home, no such name, no token, no event', async () => {
    const none = [
      (await at('http://127.0.0.1:9')).env,
      (await at('http://no-such-home.invalid')).env,
      { AGENT_HOME_URL: 'nonsense' },
      {},
    ]
    for (const env of none)
      expect(await hook({ env, args: START, sent: payload() })).toEqual(SILENT)
    const { code } = await hook({ args: ['--no-such-option'] })
    expect(code).toBe(0)
    expect(await hook({ args: [] })).toEqual(SILENT)
  })

  test('with a prompt of 200 KB', async () => {
    const { env } = await at()
    const prompt = 'words of a long prompt '.repeat(9_000)
    const args = ['UserPromptSubmit', '--client', 'claude-code']
    expect(await hook({ env, args, sent: payload({ prompt }) })).toEqual(SILENT)
  })
})

describe('captures', () => {
  const day = '2027-01-31T08:00:00Z'
  const line = (content: string, uuid: string) =>
    `${JSON.stringify({ type: 'user', uuid, timestamp: day, message: { content } })}\n`

  function session(id: string, turns: number) {
    const transcript_path = join(freshDirectory(), 'transcript.jsonl')
    const said = Array.from(
      { length: turns },
      (_, n) => `Turn ${n} of ${id}: ${'word '.repeat(20)}.`,
    )
    writeFileSync(transcript_path, said.map((text, n) => line(text, `${n}`)).join(''))
    return { said, sent: payload({ session_id: id, transcript_path }) }
  }

  const idOf = (n: number) => `373cadd2-3bd7-4aeb-9ef4-${String(n).padStart(12, '0')}`

  const args = ['SessionEnd', '--client', 'claude-code', '--capture']

  test('of eight sessions at once, by two hooks each, have every turn once', async () => {
    const { home, env } = await at()
    const sessions = Array.from({ length: 8 }, (_, n) => session(idOf(n), timesPromised(1_000)))
    const capture = () =>
      Promise.all(
        [...sessions, ...sessions].map(({ sent }) =>
          hook({ env, args, sent, program: patient, tells: true }),
        ),
      )
    for (const ended of await capture()) expect(ended).toEqual({ ...SILENT, log: '' })
    for (const ended of await capture()) expect(ended).toEqual({ ...SILENT, log: '' })
    const all = await Array.fromAsync(home.list({ view: 'whole' }))
    for (const [n, { said }] of sessions.entries()) {
      const own = all.filter(({ key }) => key.includes(`.${String(n).padStart(12, '0')}.`))
      const heard = own
        .map(({ text = '' }) => text)
        .join('')
        .match(/^Turn .*$/gm)
      expect(heard).toEqual(said)
    }
    expect(all.every(({ version }) => version === 1)).toBe(true)
  })

  test('are not read from a pipe, which would never end', async () => {
    const { env } = await at()
    const transcript_path = join(freshDirectory(), 'pipe')
    execFileSync('mkfifo', [transcript_path])
    expect(await hook({ env, args, sent: payload({ transcript_path }) })).toEqual(SILENT)
  })
})

describe('the repository', () => {
  const git = (directory: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.example', ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH, HOME: freshFolder() },
      stdio: 'pipe',
    })

  const made = (name = 'folder') => {
    const directory = join(freshFolder(), name)
    mkdirSync(join(directory, 'deep/er'), { recursive: true })
    git(directory, 'init', '--quiet', '--initial-branch', 'feature/login')
    return directory
  }

  test('is named by its folder, then by its first remote, then by origin', () => {
    const directory = made()
    const deep = join(directory, 'deep/er')
    expect(repositoryOf(deep)).toEqual({ name: 'folder', branch: 'feature/login' })
    git(directory, 'remote', 'add', 'fork', 'https://user:secret@host.example/ann/fork/')
    expect(repositoryOf(deep).name).toBe('fork')
    git(directory, 'remote', 'add', 'origin', 'git@host.example:ann/atlas.git')
    git(directory, 'remote', 'set-url', '--push', 'origin', 'ssh://host.example/elsewhere.git')
    expect(repositoryOf(deep)).toEqual({ name: 'atlas', branch: 'feature/login' })
  })

  test('of a worktree and a submodule is found through the file that says where it is', () => {
    const directory = made()
    git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    const tree = join(freshFolder(), 'tree')
    git(directory, 'worktree', 'add', '--quiet', '-b', 'other', tree)
    expect(repositoryOf(tree)).toEqual({ name: 'folder', branch: 'other' })
    git(directory, 'remote', 'add', 'origin', '../atlas')
    expect(repositoryOf(tree)).toEqual({ name: 'atlas', branch: 'other' })
    const whole = made('whole')
    const local = ['-c', 'protocol.file.allow=always']
    git(whole, ...local, 'submodule', '--quiet', 'add', directory, 'part')
    expect(repositoryOf(join(whole, 'part'))).toEqual({ name: 'folder', branch: 'feature/login' })
  })

  test('has no branch where HEAD is detached, and elsewhere it is the directory', () => {
    const directory = made()
    git(directory, 'commit', '--quiet', '--allow-empty', '-m', 'first')
    git(directory, 'checkout', '--quiet', '--detach')
    expect(repositoryOf(directory)).toEqual({ name: 'folder', branch: undefined })
    const plain = join(freshFolder(), 'plain')
    expect(repositoryOf(plain)).toEqual({ name: 'plain' })
  })

  test('is not read from a pipe, which would never end', () => {
    const directory = join(freshFolder(), 'piped')
    mkdirSync(join(directory, '.git'), { recursive: true })
    for (const name of ['HEAD', 'config', 'commondir'])
      execFileSync('mkfifo', [join(directory, '.git', name)])
    expect(repositoryOf(directory)).toEqual({ name: 'piped', branch: undefined })
  })
})

describe.skipIf(process.platform === 'win32')('a pipe in the place of a file', () => {
  let config: string
  beforeEach(() => {
    config = freshFolder()
    vi.stubEnv('XDG_CONFIG_HOME', config)
    mkdirSync(join(config, 'agent-home/hooks'), { recursive: true })
  })
  afterEach(() => void vi.unstubAllEnvs())

  test('of the log is left alone, and not waited for', () => {
    const path = join(config, 'agent-home/hooks.log')
    execFileSync('mkfifo', [path])
    recordTrouble({ at: 'now', client: 'codex', event: 'Stop', message: 'one' })
    expect(readTroubles()).toEqual([])
    expect(statSync(path).isFIFO()).toBe(true)
  })

  test('of a session’s state is nothing, and is replaced', () => {
    const path = stateFile('codex', 'pipe')
    mkdirSync(join(config, 'agent-home/hooks/folder'))
    utimesSync(join(config, 'agent-home/hooks/folder'), 0, 0)
    execFileSync('mkfifo', [path])
    expect(readState(path)).toEqual({ given: [], parts: 0, pieces: 0 })
    saveState(path, { given: ['k@1'], parts: 0, pieces: 0 })
    sweepStates(Date.now())
    expect(readState(path).given).toEqual(['k@1'])
  })
})
