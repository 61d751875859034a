/** Processes of the bench: servers on one core, load on the other, and what each costs. */
import {
  type ChildProcess,
  execFileSync,
  type SpawnOptions,
  spawn,
  spawnSync,
} from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'

export const SERVER_CORE = 0
export const LOAD_CORE = 1

const canPin = availableParallelism() > 1 && !spawnSync('taskset', ['--version']).error

export const pinning = canPin ? 'servers on core 0, load on core 1' : 'not pinned'

export const pinned = (core: number, command: readonly string[]): readonly string[] =>
  canPin ? ['taskset', '-c', `${core}`, ...command] : command

/** Keeps this process off the servers' core. */
export function pinSelf(): void {
  if (canPin) execFileSync('taskset', ['-cp', `${LOAD_CORE}`, `${process.pid}`])
}

/** Nothing that the bench started outlives it. */
const started = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

export function spawnPinned(
  core: number,
  command: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const [program = '', ...args] = pinned(core, command)
  const child = spawn(program, args, options)
  started.add(child)
  child.once('exit', () => started.delete(child))
  return child
}

/** Where an installed program is, or undefined. */
export function installed(program: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/** What is missing where it is not installed. */
export const needs = (program: string) => () => (installed(program) ? undefined : program)

export const quiet = { stdio: 'ignore' } as const

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}

/** The address that our servers print as JSON when they listen. */
export async function saidUrl(child: ChildProcess): Promise<URL> {
  if (!child.stdout) throw new Error('its output is not piped')
  for await (const line of createInterface(child.stdout)) {
    const { url } = line.startsWith('{') ? (JSON.parse(line) as { url?: string }) : {}
    if (url === undefined) continue
    child.stdout.resume()
    return new URL(url)
  }
  throw new Error('a server ended before it listened')
}

/** Asks until the address answers; peers do not say when they are ready. */
export async function answering(url: string, withinMs = 15_000): Promise<void> {
  const until = performance.now() + withinMs
  for (;;) {
    const answered = await fetch(url).catch(() => undefined)
    if (answered?.ok) return
    if (performance.now() > until) throw new Error(`${url} does not answer`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Processor time of a process so far, in seconds; undefined where the system does not say. */
export function cpuSeconds(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  } catch {
    return undefined
  }
}

/** Resident memory of a process, in MB (10^6 bytes). */
export function residentMB(pid: number | undefined): number {
  const [, kilobytes = '0'] =
    /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kilobytes) * 1_024) / 1e6
}
