/** One pass over the whole file: overwrites slack and free pages. */
import type { PageFile } from './page-file.ts'
import { type Page, wipeFrom, wipeSlack } from './slack.ts'

const CHUNK_BYTES = 1_048_576

/** How long other writes may wait. */
const SLICE_MS = 8

/** In the file's header. */
const FIRST_TRUNK_AT = 32
const FREE_PAGES_AT = 36

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
export function startPass(file: PageFile) {
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
      const until = performance.now() + SLICE_MS
      let found = false
      while (!found && next < isLeaf.length && performance.now() < until) found = chunk()
      return found
    },
    /** Pages written behind it came through the log. */
    isOver: (): boolean => next >= isLeaf.length,
  }
}

export type Pass = ReturnType<typeof startPass>
