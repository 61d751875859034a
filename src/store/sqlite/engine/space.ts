/** Room on the file system of the data: a part of it is for the home's writes alone. */
import { statfs } from 'node:fs/promises'
import { StorageFull } from '../../port/errors.ts'

/** A system under load is asked four times a second, not once a request. */
const REMEMBERED_MS = 250

/** What anybody but the system's administrator may still fill. */
export async function freeBytesFor(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path)
  return bavail * bsize
}

export interface Space {
  /** False: less than the reserve is free. */
  readonly hasRoom: () => Promise<boolean>
  /** Throws StorageFull where there is no room. */
  readonly takeArrivals: () => Promise<void>
}

export interface Disk {
  readonly freeBytes: () => Promise<number>
  /** Milliseconds, monotonic. */
  readonly stopwatch: () => number
}

/** `reserve` in bytes; 0: none is kept. */
export function keepReserve(reserve: number, { freeBytes, stopwatch }: Disk): Space {
  let lookedAt = Number.NEGATIVE_INFINITY
  let room = Promise.resolve(true)

  // A file system that does not tell how much is free may still take what is written.
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
