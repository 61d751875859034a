/** A file gets its name once it is whole and on the disk; until then it is beside it, or nowhere. */
import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Terminal } from './terminal.ts'

/** A name is kept by its directory, and lost with it. */
export function rename(from: string, to: string): void {
  renameSync(from, to)
  const directory = openSync(dirname(to), 'r')
  fsyncSync(directory)
  closeSync(directory)
}

/**
 * `work` is given an empty file beside `file`, its owner's alone, and renames it when it is whole.
 * Undone by whatever ends it before.
 */
export async function withTemporary<T>(
  file: string,
  { whenStopped }: Terminal,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = `${file}.${randomBytes(4).toString('hex')}.part`
  const undo = () => rmSync(temporary, { force: true })
  // First, or a signal between the two would leave the file.
  const forget = whenStopped(undo)
  try {
    closeSync(openSync(temporary, 'wx', 0o600))
    return await work(temporary)
  } finally {
    forget()
    undo()
  }
}
