/** A file gets its name once it is whole and on the disk; until then it is beside it, or nowhere. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Terminal } from './terminal.ts'

/** A name is kept by its directory, and lost with it. */
export function rename(from: string, to: string): void {
  renameSync(from, to)
  const directory = openSync(dirname(to), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/**
 * `work` is given an empty file, its owner's alone, and renames it when it is whole. It lies in a
 * directory of its own beside `file`: whatever ends the work before takes all that is in there, such
 * as SQLite's journal, and nothing can come after it.
 */
export async function withTemporary<T>(
  file: string,
  { whenStopped }: Terminal,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const directory = `${file}.${randomBytes(4).toString('hex')}.part`
  const temporary = join(directory, basename(file))
  // Again where a thread that still writes makes a file meanwhile.
  const undo = () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  // First, or a signal between the two would leave it.
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
