/**
 * Overwrites what `secure_delete` leaves. It overwrites deleted rows and freed pages; but when rows
 * move to another page, a copy can stay in the slack of the old one, which SQLite never reads and
 * cannot clear. So slack is cleared in the file itself, for each page that a checkpoint wrote,
 * before the log restarts. The file then has no remains except in pages that are still in the log,
 * and an erasure costs only what it wrote.
 *
 * A mark in the file's modification time records this: any other writer removes it, and a copy does
 * not have it. A file without the mark is cleaned once, in slices.
 *
 * Zeros in slack or free pages are invisible to SQLite, so concurrent readers, cached pages and
 * crashes do no harm. But nobody else may write to the file meanwhile: the caller prevents commits
 * and checkpoints.
 */

import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  futimesSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs'
import type { Timers } from '../../../timers.ts'
import { MOST_PAGES, type Page, wipeFrom, wipeSlack } from './slack.ts'

/** In the header: https://www.sqlite.org/fileformat2.html#the_database_header */
const HEADER_BYTES = 100
const PAGE_SIZE_AT = 16
const FIRST_TRUNK_AT = 32
const FREE_PAGES_AT = 36
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

function readAt(fd: number, buffer: Buffer, at: number): Buffer {
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, at))
}

/**
 * The database file, accessed page by page beside SQLite. `fd`: stays open as long as any connection
 * of this process, because closing it releases their locks.
 */
function openPageFile(fd: number) {
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

type PageFile = ReturnType<typeof openPageFile>

const CHUNK_BYTES = 1_048_576

/** How long other writes may wait. */
const SLICE_MS = 8

/**
 * The free pages, from the trunk pages of the freelist. The rest of a trunk page is overwritten at
 * once, because SQLite reuses trunk pages as they are. Throws if the list is damaged.
 */
function freeLeaves(file: PageFile): Uint8Array {
  const isLeaf = new Uint8Array(file.pages() + 1)
  const header = file.read(1)
  let number = header.readUInt32BE(FIRST_TRUNK_AT)
  let listed = 0
  while (number > 0) {
    const bytes = file.read(number)
    const leaves = bytes.readUInt32BE(4)
    for (let leaf = 0; leaf < leaves; leaf++) isLeaf[bytes.readUInt32BE(8 + 4 * leaf)] = 1
    const trunk = { bytes, at: 0, size: bytes.length, number }
    if (wipeFrom(trunk, 8 + 4 * leaves)) file.write(trunk)
    listed += 1 + leaves
    if (listed > isLeaf.length) throw new Error('the list of free pages is endless')
    number = bytes.readUInt32BE(0)
  }
  if (listed !== header.readUInt32BE(FREE_PAGES_AT)) throw new Error('free pages are miscounted')
  return isLeaf
}

/** Other writes may happen between slices if the pass is told which pages they wrote. */
function startPass(file: PageFile, { stopwatch }: Timers) {
  const isLeaf = freeLeaves(file)
  let next = 1

  const wipe = (page: Page): boolean => (isLeaf[page.number] ? wipeFrom(page, 0) : wipeSlack(page))

  function chunk(): boolean {
    const size = file.pageSize()
    const bytes = file.read(next, CHUNK_BYTES / size)
    // The file became shorter.
    if (bytes.length < size) next = isLeaf.length
    let found = false
    for (let at = 0; at < bytes.length; at += size, next++) {
      const page = { bytes, at, size, number: next }
      if (file.isLockPage(next) || !wipe(page)) continue
      file.write(page)
      found = true
    }
    return found
  }

  return {
    /** Used, or freed and overwritten since. */
    moved(number: number): void {
      isLeaf[number] = 0
    },
    /** Until something was overwritten, which must then be synced. Whether there was anything. */
    slice(): boolean {
      const until = stopwatch() + SLICE_MS
      let found = false
      while (!found && next < isLeaf.length && stopwatch() < until) found = chunk()
      return found
    },
    /** Pages written behind it came through the log. */
    isOver: (): boolean => next >= isLeaf.length,
  }
}

type Pass = ReturnType<typeof startPass>

const LOG_HEADER = 32
const FRAME_HEADER = 24

/** The salts in the header change each time the log restarts. */
const SALTS_AT = 16

const FRAMES_AT_ONCE = 256

/** Frames of the write-ahead log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
function openLogFile(database: string) {
  let salts = ''
  let seen = 0
  let buffer = Buffer.alloc(0)

  function begin(fd: number): void {
    const now = readAt(fd, Buffer.alloc(LOG_HEADER), 0).toString('latin1', SALTS_AT, SALTS_AT + 8)
    if (now !== salts) seen = 0
    salts = now
  }

  /** Newest frame first, so each page is reported once, in its latest state. */
  function look(fd: number, frames: number, size: number, visit: (page: Page) => void): void {
    const frameSize = FRAME_HEADER + size
    if (buffer.length === 0) buffer = Buffer.alloc(FRAMES_AT_ONCE * frameSize)
    const told = new Set<number>()
    for (let end = frames; end > seen; end -= FRAMES_AT_ONCE) {
      const from = Math.max(seen, end - FRAMES_AT_ONCE)
      const room = buffer.subarray(0, (end - from) * frameSize)
      const bytes = readAt(fd, room, LOG_HEADER + from * frameSize)
      for (let at = bytes.length - frameSize; at >= 0; at -= frameSize) {
        const number = bytes.readUInt32BE(at)
        if (told.has(number)) continue
        told.add(number)
        visit({ bytes, at: at + FRAME_HEADER, size, number })
      }
    }
  }

  return {
    /** The first frames up to the count, without those already seen. */
    unseen(frames: number, size: number, visit: (page: Page) => void): void {
      if (frames === 0) return
      const fd = openSync(`${database}-wal`, 'r')
      try {
        begin(fd)
        look(fd, frames, size, visit)
      } finally {
        closeSync(fd)
      }
    },
    see(frames: number): void {
      seen = frames
    },
  }
}

/** `fd`: the database's descriptor, see `openPageFile`. */
export function openResidueCleaner(database: string, fd: number, timers: Timers) {
  const file = openPageFile(fd)
  const log = openLogFile(database)
  let due = !file.isMarked()
  let known = file.changedAt()
  let pass: Pass | undefined

  const isKnown = (): boolean => file.changedAt() === known

  /** The last frame of a page in the log is its state in the file. */
  function wipeMoved(frames: number): boolean {
    const pages = file.pages()
    let wiped = false
    log.unseen(frames, file.pageSize(), (page) => {
      pass?.moved(page.number)
      if (page.number > pages || !wipeSlack(page)) return
      file.write(page)
      wiped = true
    })
    return wiped
  }

  function wipeSlice(): boolean {
    pass ??= startPass(file, timers)
    const wiped = pass.slice()
    due = !pass.isOver()
    if (!due) pass = undefined
    return wiped
  }

  return {
    /**
     * Before a checkpoint: pages that others have checkpointed in the meantime were not cleaned.
     */
    watch(): void {
      if (isKnown()) return
      due = true
      pass = undefined
    },
    /** After a checkpoint. */
    note(): void {
      known = file.changedAt()
    },
    /**
     * Call while nobody can write and all frames are in the file. False if its pages cannot be
     * identified.
     */
    run(frames: number, throughAll: boolean): boolean {
      if (file.pages() >= MOST_PAGES || file.isAutoVacuumed()) return false
      const wiped = wipeMoved(frames)
      const found = due && throughAll && wipeSlice()
      if (wiped || found) file.sync()
      log.see(frames)
      if (!due) file.mark()
      known = file.changedAt()
      return true
    },
    /** Afterwards nothing is left except in pages that others have written since. */
    isClean: (): boolean => !due && isKnown(),
  }
}

export type ResidueCleaner = ReturnType<typeof openResidueCleaner>
