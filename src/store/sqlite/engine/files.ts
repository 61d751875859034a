/** The files of a database: one name, whatever it was asked for by, and the owner's alone. */
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { StoreRefused } from '../../port/errors.ts'

/** The database, its log and the log's index, and who holds it. */
const BESIDE = ['', '-wal', '-shm', '.lock', '.lock-journal', '.owner']

const OF_OTHERS = 0o077
const OTHERS_WRITE = 0o022
/** In such a directory nobody touches what others put there. */
const STICKY = 0o1000

/** SQLite keeps a log for each name, and a log that it does not find is lost. */
function refuseSecondName(path: string): void {
  const stats = statSync(path)
  if (stats.isFile() && stats.nlink > 1) {
    throw new StoreRefused(
      `${path} has another name as well (a hard link), and through both it would be corrupted. Remove the other, or make it a copy.`,
    )
  }
}

/** Where a system has owners at all. */
export const isOurs = ({ uid }: Stats): boolean => uid === process.getuid?.()

/** Those of the database's files that others may use. */
const openFiles = (path: string): string[] =>
  BESIDE.map((end) => path + end).filter((file) => {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    return process.getuid && stats?.isFile() && stats.mode & OF_OTHERS
  })

/** Files of others, and file systems without modes, stay as they are: `exposures` tells of them. */
function makePrivate(path: string): void {
  for (const file of openFiles(path)) {
    if (isOurs(lstatSync(file))) chmodSync(file, 0o600)
  }
}

/**
 * The file that the path leads to, made where it is not there. Links are followed first: the lock
 * and the log lie beside the file itself. Throws StoreRefused when it has several names.
 */
export function databaseFile(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Only where it is new: closing a file gives up every lock that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  refuseSecondName(path)
  const file = realpathSync(path)
  makePrivate(file)
  return file
}

/** What others may do with the files of a database, in sentences; nothing, as a rule. */
export function exposures(path: string): string[] {
  const directory = dirname(path)
  const { mode } = statSync(directory)
  const isOpen = process.getuid && (mode & OTHERS_WRITE) > 0 && (mode & STICKY) === 0
  return [
    ...openFiles(path).map(
      (file) => `Others may use ${file}. Give it to the service's user alone.`,
    ),
    ...(isOpen ? [`Others may write in ${directory}. Give it mode 700.`] : []),
  ]
}
