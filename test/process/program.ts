/** The program as people run it: a process of its own, on a directory of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, inject } from 'vitest'
import type { Patience } from '../../src/http/server.ts'
import { withoutDelays } from '../cli/spoken.ts'
import { directoryOnDisk } from '../files.ts'

const at = (path: string): string => resolve(import.meta.dirname, '../..', path)

export const root = at('.')
export const pinnedNode = at('node_modules/.bin/node')

/** What runs a file: itself, if it is an executable. */
const commandOf = (entry: string): readonly string[] =>
  /\.[jt]s$/.test(entry) ? [pinnedNode, at(entry)] : [at(entry)]

/** The command that is the program. */
export const programCommand = (): readonly string[] => commandOf(inject('program'))

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Everything the process wrote, on both streams, but that an answer took long. */
  readonly output: string
  /** The part of it that a pipe would get. */
  readonly stdout: string
}

export interface Program {
  readonly pid: number
  /** Resolves with the first match in the output; rejects if the process ends without it. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly ended: Promise<Ended>
  readonly kill: (signal: NodeJS.Signals) => Promise<Ended>
  /** Nobody reads what the process writes from now on. */
  readonly stopListening: () => void
}

export interface Server extends Program {
  readonly url: string
}

export interface Launch {
  /** The directory in which the process starts; its data is in data/ there. */
  readonly directory: string
  readonly env?: Readonly<Record<string, string>>
  /** The built program unless told; from the root of the repository or of the file system. */
  readonly entry?: string
  readonly args?: readonly string[]
  /** A command that runs the program's command line, and stays out of its signals' way. */
  readonly under?: readonly string[]
  /** Another command altogether, such as npm. It is signalled together with its children. */
  readonly command?: readonly string[]
}

/** The program, as it starts with another patience than its own. */
export const patient = (patience: Patience, env: Readonly<Record<string, string>> = {}) => ({
  entry: 'test/process/patient.ts',
  env: { ...env, PATIENCE: JSON.stringify(patience) },
})

/** Where commands remember heads; the person's own file is none of ours. */
const remembered = (directory: string) => ({ XDG_CONFIG_HOME: join(directory, 'config') })

const running = new Set<Program>()

export function launch(options: Launch): Program {
  const { directory, env = {}, entry = inject('program'), args: own = [], under = [] } = options
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const detached = options.command !== undefined
  const [command = '', ...args] = options.command ?? [...under, ...commandOf(entry), ...own]
  const child = spawn(command, args, {
    cwd: directory,
    env: {
      PATH,
      NODE_COMPILE_CACHE,
      PORT: '0',
      DISK_RESERVE: '0',
      ...remembered(directory),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached,
  })
  let output = ''
  let stdout = ''
  const heard = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (stream === child.stdout) stdout += text
      for (const listen of heard) listen()
    })
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    return { code, signal, output: withoutDelays(output), stdout }
  })
  const launched: Program = {
    pid: child.pid ?? 0,
    ended,
    says: (pattern) =>
      new Promise((resolve, reject) => {
        const listen = () => {
          const found = pattern.exec(withoutDelays(output))
          if (found) resolve(found)
          return found
        }
        if (listen()) return
        heard.add(listen)
        const gone = () => reject(new Error(`it ended without saying ${pattern}:\n${output}`))
        ended.then(gone, reject)
      }),
    kill(signal) {
      if (detached && child.pid !== undefined) process.kill(-child.pid, signal)
      else child.kill(signal)
      return ended
    },
    stopListening() {
      child.stdout.destroy()
      child.stderr.destroy()
    },
  }
  running.add(launched)
  ended.then(
    () => running.delete(launched),
    () => running.delete(launched),
  )
  return launched
}

/** What it prints; fails with all of it if it ended otherwise than well. */
export async function printed(options: Launch): Promise<string> {
  const { code, output, stdout } = await launch(options).ended
  expect(code, output).toBe(0)
  return stdout
}

/** Starts the program and waits until it listens. */
export async function serve(options: Launch): Promise<Server> {
  const program = launch(options)
  const [, url = ''] = await program.says(/"url":"([^"]+)"/)
  return { ...program, url }
}

const directories: string[] = []

export function freshDirectory(): string {
  const directory = directoryOnDisk()
  directories.push(directory)
  return directory
}

/** For afterEach: no process and no directory outlives its test. */
export async function cleanUp(): Promise<void> {
  await Promise.all([...running].map((program) => program.kill('SIGKILL')))
  for (const directory of directories.splice(0)) {
    rmSync(directory, { recursive: true, force: true })
  }
}
