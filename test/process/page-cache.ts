/** What of a file only memory holds, as Linux 6.5 and later can tell: cachestat(2). */

import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'

const CACHESTAT = 451n

// Experimental, and not in every build of Node.
const ffi =
  process.platform === 'linux' ? await import('node:ffi').catch(() => undefined) : undefined

const libc = ffi?.dlopen(null, {
  syscall: { arguments: ['int64', 'int64', 'buffer', 'buffer', 'int64'], return: 'int64' },
})

/** Pages that are dirty or on their way to the disk; undefined where the kernel does not say. */
export function unwrittenPages(fd: number): bigint | undefined {
  const wholeFile = Buffer.alloc(16)
  const found = Buffer.alloc(40)
  if (libc?.functions.syscall(CACHESTAT, BigInt(fd), wholeFile, found, 0n) !== 0n) return undefined
  return found.readBigUInt64LE(8) + found.readBigUInt64LE(16)
}

/** Why the page cache says nothing here, or undefined where it does. */
export function pageCacheIsMute(directory: string): string | undefined {
  const fd = openSync(join(directory, 'probe'), 'w+')
  try {
    writeSync(fd, 'bytes')
    if (!unwrittenPages(fd)) return 'no cachestat(2)'
    fdatasyncSync(fd)
    return unwrittenPages(fd) === 0n ? undefined : `${directory} is not on a disk`
  } finally {
    closeSync(fd)
  }
}
