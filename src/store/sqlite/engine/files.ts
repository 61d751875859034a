/** The database's files: their real path and their permissions. */
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makeDirectories } from '../../../directories.ts'
import { StoreRefused } from '../../port/errors.ts'

/** The database, its log, the log's index, and the lock files. */
const BESIDE = ['', '-wal', '-shm', '.lock', '.lock-journal', '.owner']

const OF_OTHERS = 0o077
const OTHERS_WRITE = 0o022
/** A directory in which other users cannot replace our files (sticky bit). */
const STICKY = 0o1000

/** SQLite derives the log's name from the path; under another path it would not find the log. */
function refuseSecondName(path: string): void {
  const stats = statSync(path)
  if (stats.isFile() && stats.nlink > 1) {
    throw new StoreRefused(
      `${path} has another name as well (a hard link), and through both it would be corrupted. Remove the other, or make it a copy.`,
    )
  }
}

/** Systems with file ownership. */
export const isOurs = ({ uid }: Stats): boolean => uid === process.getuid?.()

/** Files of the database that other users can access. */
const openFiles = (path: string): string[] =>
  BESIDE.map((end) => path + end).filter((file) => {
    const stats = lstatSync(file, { throwIfNoEntry: false })
    return process.getuid && stats?.isFile() && stats.mode & OF_OTHERS
  })

/**
 * Files of other owners, and file systems without permissions, are left alone and reported by
 * `exposures`.
 */
function makePrivate(path: string): void {
  for (const file of openFiles(path)) {
    if (isOurs(lstatSync(file))) chmodSync(file, 0o600)
  }
}

const isAllowed = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

const READ_AND_WRITE = constants.R_OK | constants.W_OK
/** To create files in a directory. */
const CREATE = constants.W_OK | constants.X_OK

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

/** The path, or what is above it, that is there: a link is, wherever it leads. */
const nearest = (path: string): string =>
  existsSync(path) || isLink(path) ? path : nearest(dirname(path))

const leadsNowhere = (link: string): StoreRefused =>
  new StoreRefused(
    `${link} is a link to a place that is not there. Make the directory that it leads to, or check DATABASE_URL.`,
  )

function refuseDirectory(directory: string): void {
  if (!existsSync(directory)) throw leadsNowhere(directory)
  if (!statSync(directory).isDirectory()) {
    throw new StoreRefused(`${directory} is not a directory. Check DATABASE_URL.`)
  }
  if (isAllowed(directory, CREATE)) return
  throw new StoreRefused(
    `${directory} cannot be written in. Give it to the user of the service, with mode 700.`,
  )
}

function refuseFiles(path: string): void {
  if (!statSync(path).isFile()) throw new StoreRefused(`${path} is not a file. Check DATABASE_URL.`)
  for (const file of BESIDE.map((end) => path + end)) {
    if (existsSync(file) && !isAllowed(file, READ_AND_WRITE)) {
      throw new StoreRefused(
        `${file} cannot be read and written. Give it to the user of the service, with mode 600.`,
      )
    }
  }
}

/**
 * Throws StoreRefused if the database cannot be kept at this path, there or yet to be created: the
 * start and `agent-home doctor` say the same.
 */
export function refuseUnusable(path: string): void {
  if (existsSync(path)) {
    const file = realpathSync(path)
    refuseFiles(file)
    refuseSecondName(file)
    refuseDirectory(dirname(file))
    return
  }
  if (path.includes('?')) {
    throw new StoreRefused(`There is no file ${path}, and sqlite: takes no parameters after a ?.`)
  }
  refuseDirectory(nearest(dirname(path)))
  if (isLink(path)) refuseTarget(path)
}

/** That nothing is there is no error. */
const isLoop = (link: string): boolean => {
  try {
    statSync(link, { throwIfNoEntry: false })
    return false
  } catch {
    return true
  }
}

/** Of a link to a file that is not there yet: its directory must be. */
function refuseTarget(link: string): void {
  const target = resolve(realpathSync(dirname(link)), readlinkSync(link))
  if (isLoop(link) || !existsSync(dirname(target))) throw leadsNowhere(link)
  refuseUnusable(target)
}

/**
 * The real path of the database, created if missing. Links are resolved, because lock and log are
 * beside the file itself. Throws StoreRefused if the path cannot be used, or has several hard links.
 */
export function databaseFile(path: string): string {
  refuseUnusable(path)
  makeDirectories(dirname(path), 0o700)
  // Only for a new file: closing a descriptor releases all locks of this process on the file.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const file = realpathSync(path)
  makePrivate(file)
  return file
}

/** Sentences on what other users can do with the files; usually empty. */
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
