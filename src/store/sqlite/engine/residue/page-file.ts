/** The database file, accessed page by page beside SQLite. */
import { fdatasyncSync, fstatSync, futimesSync, readSync, writeSync } from 'node:fs'
import type { Page } from './slack.ts'

/** In the header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100
const PAGE_SIZE_AT = 16
const LARGEST_ROOT_AT = 52

/** SQLite's lock bytes are in this page; it is never written. */
const LOCK_BYTE = 0x40_00_00_00

/**
 * The mark: a fraction of a second that a clock hardly ever shows, exact in binary and in
 * microseconds. File systems with coarser times have no mark.
 */
const MARK_S = 23 / 64
const MARK_NS = 359_375_000n
const SECOND_NS = 1_000_000_000n

export function readAt(fd: number, buffer: Buffer, at: number): Buffer {
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, at))
}

/**
 * `fd`: stays open as long as any connection of this process, because closing it releases their
 * locks.
 */
export function openPageFile(fd: number) {
  const header = Buffer.alloc(HEADER_BYTES)
  const pageSize = (): number => {
    const size = readAt(fd, header, 0).length < HEADER_BYTES ? 0 : header.readUInt16BE(PAGE_SIZE_AT)
    return size === 1 ? 65_536 : size
  }
  const changedAt = (): bigint => fstatSync(fd, { bigint: true }).mtimeNs
  const isMarked = (): boolean => changedAt() % SECOND_NS === MARK_NS

  return {
    /** In bytes; 0 for an empty file. */
    pageSize,
    pages: (): number => Math.floor(fstatSync(fd).size / pageSize()),
    /** Files with pointer-map pages are not supported: these pages do not identify themselves. */
    isAutoVacuumed: (): boolean => readAt(fd, header, 0).readUInt32BE(LARGEST_ROOT_AT) !== 0,
    isLockPage: (number: number): boolean => number === Math.floor(LOCK_BYTE / pageSize()) + 1,
    /** `number`: from 1, as in SQLite. Fewer pages at the end of the file. */
    read: (number: number, count = 1): Buffer =>
      readAt(fd, Buffer.allocUnsafe(count * pageSize()), (number - 1) * pageSize()),
    write: ({ bytes, at, size, number }: Page): void => {
      writeSync(fd, bytes, at, size, (number - 1) * size)
    },
    sync: (): void => fdatasyncSync(fd),
    /** In nanoseconds. */
    changedAt,
    isMarked,
    mark(): void {
      if (isMarked()) return
      const { atime, mtimeMs } = fstatSync(fd)
      try {
        futimesSync(fd, atime, Math.floor(mtimeMs / 1_000) + MARK_S)
      } catch {
        // The owner differs, so the mark cannot be set: the file is cleaned again after the next
        // start.
      }
    },
  }
}

export type PageFile = ReturnType<typeof openPageFile>
