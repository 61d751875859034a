/** One file as a text, and why a file is none. */
import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
} from 'node:fs'

/** Of a file: what one batch writes, even where all of its pieces change their keys. */
const MOST_BYTES = 524_288

/** The same as JSON, of the batch's 1 MiB. */
const MOST_JSON_BYTES = 960_000

/** An escape has at most six bytes. */
const ESCAPED = 6

const { O_RDONLY, O_NOFOLLOW, O_DIRECTORY, O_NONBLOCK } = constants

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

export const isOneOf = (error: unknown, ...codes: string[]): boolean =>
  codes.includes(codeOf(error))

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Where a text may not be: the home keeps none with it. */
const NUL = '\0'

/** Throws why the bytes are no text that the home keeps. */
function textOf(bytes: Uint8Array): string {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    throw new Unfit('it is not UTF-8')
  }
  if (text.includes(NUL)) throw new Unfit('it has NUL characters')
  const why = whyTooLarge(text)
  if (why !== undefined) throw new Unfit(why)
  return text
}

/** Why something on the disk is left alone. */
export class Unfit extends Error {}

const tooLarge = (bytes: number | bigint, most: number): string =>
  `${bytes} bytes are more than a file may have (${most})`

/** Undefined: it is not. */
export function whyTooLarge(text: string): string | undefined {
  const bytes = Buffer.byteLength(text)
  if (bytes > MOST_BYTES) return tooLarge(bytes, MOST_BYTES)
  if (bytes * ESCAPED <= MOST_JSON_BYTES) return undefined
  const asJson = Buffer.byteLength(JSON.stringify(text))
  return asJson > MOST_JSON_BYTES
    ? `with the escapes of JSON it has ${asJson} bytes, more than one request takes (${MOST_JSON_BYTES})`
    : undefined
}

export const isSame = (a: BigIntStats, b: BigIntStats): boolean =>
  a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs

export interface Read {
  readonly text: string
  readonly stats: BigIntStats
}

function bytesIn(fd: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size + 1)
  let length = 0
  for (;;) {
    const read = readSync(fd, bytes, length, bytes.length - length, length)
    length += read
    if (read === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}

/** Undefined: it was changed while it was read. Throws Unfit. */
function readOnce(file: string, most: number): Read | undefined {
  // Without waiting, should it have become a pipe.
  const fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (!stats.isFile()) throw new Unfit('it is not a file')
    if (stats.size > most) throw new Unfit(tooLarge(stats.size, most))
    const bytes = bytesIn(fd, Number(stats.size))
    const after = fstatSync(fd, { bigint: true })
    return isSame(stats, after) && stats.size === BigInt(bytes.length)
      ? { text: textOf(bytes), stats }
      : undefined
  } finally {
    closeSync(fd)
  }
}

const TRIES = 3

const BUSY = 'a program is writing to it'

/** Undefined: there is no file. Throws Unfit. */
export function readFile(file: string, most = MOST_BYTES): Read | undefined {
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const read = readOnce(file, most)
      if (read) return read
    }
  } catch (error) {
    if (isOneOf(error, 'ENOENT')) return undefined
    throw isOneOf(error, 'ELOOP') ? new Unfit('it is a link') : error
  }
  throw new Unfit(BUSY)
}

/** Faults of one file; a disk that fails is none. */
const OF_ONE_FILE =
  /^(EACCES|EPERM|ENAMETOOLONG|EINVAL|EILSEQ|EISDIR|ENOTDIR|ENOTEMPTY|ELOOP|EMLINK|ETXTBSY|EBUSY|EXDEV|EFBIG|ENOSPC|EDQUOT)$/

/** Removals, and what is to be sent, need no room. */
export const lacksRoom = (error: unknown): boolean => isOneOf(error, 'ENOSPC', 'EDQUOT')

/** The sentence of a fault that leaves other files alone; throws all others. */
export function reasonOf(error: unknown): string {
  if (error instanceof Unfit) return error.message
  if (lacksRoom(error)) return `there is no space for it here (${codeOf(error)})`
  if (OF_ONE_FILE.test(codeOf(error))) return `the system refuses it (${codeOf(error)})`
  throw error
}

/** Under Linux a directory that is open has a path of its own, which no link can lead elsewhere. */
const DESCRIPTORS = existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined

/** Opens a directory that is no link; `work` gets the path under which it is. */
export function inDirectory<T>(path: string, work: (at: string, fd: number) => T): T {
  const fd = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  try {
    return work(DESCRIPTORS ? `${DESCRIPTORS}/${fd}` : path, fd)
  } finally {
    closeSync(fd)
  }
}
