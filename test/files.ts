/** Where the files of tests lie. */
import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Linux's file system in memory. Containers often have 64 MiB of it, which is too little. */
const MEMORY = '/dev/shm'
const NEEDED_BYTES = 2 * 1024 ** 3

function isRoomy(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK)
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}

/** Half of the time of a run would be waiting for the disk, which decides nothing there. */
export function keepDatabasesInMemory(): void {
  if (isRoomy(MEMORY)) process.env.TEST_DATABASES ??= MEMORY
}

/** A directory for the files of one database. */
export const databaseDirectory = (name: string): string =>
  mkdtempSync(join(process.env.TEST_DATABASES ?? tmpdir(), name))

/** A directory on the disk, as people have it: for the program as they run it. */
export const directoryOnDisk = (): string => mkdtempSync(join(tmpdir(), 'agent-home-'))
