/**
 * Slack: the parts of a page that SQLite does not use, i.e. the gap between a b-tree page's cell
 * pointers and its cells, and the insides of its free blocks. They are never read, so overwriting
 * them changes nothing. https://www.sqlite.org/fileformat2.html#b_tree_pages
 *
 * Pages start at `at` in `bytes`, so that log frames are inspected in the buffer they were read
 * into.
 */

/** Interior and leaf pages of indexes and tables. */
const BTREE_TYPES = [2, 5, 10, 13]
const LEAVES_FROM = 10

/** The first page starts with the file's header. */
const FILE_HEADER = 100

/** A free block starts with the next block's offset and its size. */
const FREE_BLOCK_HEADER = 4

/**
 * All other pages start with a page number or zeros, so below this many pages the first byte is
 * never a b-tree's: 128 GiB with pages of 4 KiB.
 */
export const MOST_PAGES = 0x02_00_00_00

const ZEROS = Buffer.alloc(65_536)

const isZero = (bytes: Buffer, from: number, to: number): boolean =>
  bytes.compare(ZEROS, 0, to - from, from, to) === 0

const numberAt = (bytes: Buffer, at: number): number =>
  ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)

export interface Page {
  readonly bytes: Buffer
  readonly at: number
  readonly size: number
  /** From 1. */
  readonly number: number
}

/** Whether one of the ranges matches. */
type Look = (bytes: Buffer, from: number, to: number) => boolean

function anyFreeBlock({ bytes, at, size }: Page, first: number, look: Look): boolean {
  let any = false
  let block = first
  while (block > 0 && block + FREE_BLOCK_HEADER <= size) {
    const next = numberAt(bytes, at + block)
    const end = block + numberAt(bytes, at + block + 2)
    if (end > size || (next > 0 && next < end)) return any
    if (end > block + FREE_BLOCK_HEADER) {
      any = look(bytes, at + block + FREE_BLOCK_HEADER, at + end) || any
    }
    block = next
  }
  return any
}

/** Empty for pages that are no b-tree pages or are damaged. */
function anySlack(page: Page, look: Look): boolean {
  const { bytes, at, size, number } = page
  const header = at + (number === 1 ? FILE_HEADER : 0)
  const type = bytes[header] ?? 0
  if (!BTREE_TYPES.includes(type)) return false
  const gap = header + (type < LEAVES_FROM ? 12 : 8) + 2 * numberAt(bytes, header + 3)
  const cells = at + (numberAt(bytes, header + 5) || 65_536)
  if (gap > cells || cells > at + size) return false
  const inGap = look(bytes, gap, cells)
  return anyFreeBlock(page, numberAt(bytes, header + 1), look) || inGap
}

const wipe: Look = (bytes, from, to) => {
  if (isZero(bytes, from, to)) return false
  bytes.fill(0, from, to)
  return true
}

/** Whether anything was overwritten. */
export const wipeSlack = (page: Page): boolean => anySlack(page, wipe)

/** Whether anything was there, from this offset on. */
export const wipeFrom = ({ bytes, at, size }: Page, from: number): boolean =>
  from < size && wipe(bytes, at + from, at + size)
