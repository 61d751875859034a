/** Frames of the write-ahead log: https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
import { closeSync, openSync } from 'node:fs'
import { readAt } from './page-file.ts'
import type { Page } from './slack.ts'

const LOG_HEADER = 32
const FRAME_HEADER = 24

/** The salts in the header change each time the log restarts. */
const SALTS_AT = 16

const FRAMES_AT_ONCE = 256

export function openLogFile(database: string) {
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
