/** Free space: a part of the file system is reserved for the home's writes. */
import { statfs } from 'node:fs/promises'
import { StorageFull } from '../../port/errors.ts'

/** Checked four times a second, not on every request. */
const REMEMBERED_MS = 250

/** What other users than root can still fill. */
export async function freeBytesFor(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

export interface Space {
  /** False if less than the reserve is free. */
  readonly hasRoom: () => Promise<boolean>
  /** Throws StorageFull if there is no room. */
  readonly takeArrivals: () => Promise<void>
}

interface Disk {
  readonly freeBytes: () => Promise<number>
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
}

/** `reserve` in bytes; 0: none. */
export function keepReserve(reserve: number, { freeBytes, stopwatch }: Disk): Space {
  let lookedAt = Number.NEGATIVE_INFINITY
  let room = Promise.resolve(true)

  // Without figures from the file system, writes are attempted.
  const look = (): Promise<boolean> =>
    freeBytes().then(
      (free) => free >= reserve,
      () => true,
    )

  function hasRoom(): Promise<boolean> {
    if (reserve === 0 || stopwatch() - lookedAt < REMEMBERED_MS) return room
    lookedAt = stopwatch()
    room = look()
    return room
  }

  return {
    hasRoom,
    async takeArrivals() {
      if (!(await hasRoom())) throw new StorageFull('what is free is kept for the home’s writes')
    },
  }
}
