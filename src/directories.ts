/** Creates directories. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

const isDirectory = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it by now.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isDirectory(path)) throw error
  }
}

/**
 * Creates a directory and those above it. Node's own `recursive` never returns where the system
 * answers ENOENT although the parent is there, as /proc does.
 */
export function makeDirectories(path: string, mode = 0o777): void {
  if (isDirectory(path)) return
  const above = dirname(path)
  if (!existsSync(above)) makeDirectories(above, mode)
  makeOne(path, mode)
}
