/** The machine that a result was taken on. */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pinned, pinning, SERVER_CORE } from './process.ts'

const run = promisify(execFile)

const SYNC = fileURLToPath(new URL('sync.ts', import.meta.url))

/**
 * Milliseconds that one fsync after an append of 4 KB takes, where servers run: a disk's interrupts
 * may come to the other core, and on that one it takes half as long.
 */
export async function syncMs(directory: string): Promise<number> {
  const script = [process.execPath, SYNC, directory]
  const [program = '', ...args] = pinned(SERVER_CORE, script)
  const { stdout } = await run(program, args)
  return Number(stdout)
}

export const freshDirectory = (): string => mkdtempSync(join(tmpdir(), 'agent-home-bench-'))

/** Runs work on a directory of its own, on the disk that is measured. */
export async function onDisk<T>(work: (directory: string) => Promise<T>): Promise<T> {
  const directory = freshDirectory()
  try {
    return await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function processor(): string {
  try {
    const info = readFileSync('/proc/cpuinfo', 'utf8')
    return /model name\s*:\s*(.+)/.exec(info)?.[1] ?? arch()
  } catch {
    return arch()
  }
}

const fileSystem = (): string => {
  try {
    const table = execFileSync('df', ['--output=fstype', tmpdir()], { encoding: 'utf8' })
    return table.trim().split('\n')[1] ?? 'unknown'
  } catch {
    return 'unknown'
  }
}

/** One line for each fact, for people. */
export const describeMachine = (): Promise<readonly string[]> =>
  onDisk(async (directory) => [
    `${processor()}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB`,
    `${platform()} ${release()}, ${fileSystem()}, an fsync of 4 KB takes ${(await syncMs(directory)).toFixed(2)} ms`,
    `Node.js ${process.versions.node}, SQLite ${process.versions.sqlite}`,
    `${pinning}; load average at the start ${loadavg()[0]?.toFixed(1)}`,
  ])
