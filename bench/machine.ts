/** The machine that a result was taken on. */
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './load/sample.ts'
import { pinning } from './process.ts'

const SYNCS = 300

/** Milliseconds that one fsync after an append of 4 KB takes: the median. */
export async function syncMs(directory: string): Promise<number> {
  const fd = openSync(join(directory, 'syncs'), 'w')
  const block = Buffer.alloc(4_096, 1)
  const taken = Array.from({ length: SYNCS }, () => {
    const startedAt = performance.now()
    writeSync(fd, block)
    fsyncSync(fd)
    return performance.now() - startedAt
  })
  closeSync(fd)
  return median(taken)
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
