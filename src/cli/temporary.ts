/** Writes a file atomically: it gets its name once it is complete and durable. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeDirectories } from '../directories.ts'
import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'

export function refuseExisting(file: string, force: boolean): void {
  if (force || !existsSync(file)) return
  throw new Failure(EXIT.failed, `${file} already exists. Name another file, or pass --force.`)
}

/** The directory must be synced too. */
export function rename(from: string, to: string): void {
  renameSync(from, to)
  const directory = openSync(dirname(to), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/** Replaces a file that only its owner reads, by this value as JSON. */
export function writeJson(path: string, value: unknown): void {
  makeDirectories(dirname(path), 0o700)
  const beside = `${path}.${process.pid}.part`
  writeFileSync(beside, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600, flush: true })
  rename(beside, path)
}

/**
 * `work` gets an empty file, readable only for its owner, and renames it when complete. The file is
 * in a temporary directory beside `file`, which is removed in any case with everything in it, such
 * as SQLite's journal.
 */
export async function withTemporary<T>(
  file: string,
  { whenStopped }: Terminal,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const directory = `${file}.${randomBytes(4).toString('hex')}.part`
  const temporary = join(directory, basename(file))
  // Repeated if a thread is still writing a file.
  const undo = () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  // Registered first, so that a signal cannot leave the directory behind.
  const forget = whenStopped(undo)
  try {
    mkdirSync(directory, { mode: 0o700 })
    closeSync(openSync(temporary, 'wx', 0o600))
    return await work(temporary)
  } finally {
    forget()
    undo()
  }
}
