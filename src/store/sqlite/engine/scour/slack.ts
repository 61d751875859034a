/**
 * What of a page SQLite does not use: the gap between a b-tree page's cell pointers and its cells,
 * and what is inside of its free blocks. Nothing there is ever read, so zeros there change nothing.
 * The format is fixed: https://www.sqlite.org/fileformat2.html#b_tree_pages
 *
 * Pages lie in `bytes` from `at` on, so that those of a log are looked at where they were read to:
 * each page that is written is looked at once.
 */

/** Interior and leaf pages, of indexes and of tables. */
const BTREE_TYPES = [2, 5, 10, 13]
const LEAVES_FROM = 10

/** The first page begins with the file's header. */
const FILE_HEADER = 100

/** The link and the size at its beginning. */
const FREE_BLOCK_HEADER = 4

/**
 * Every other page begins with a page's number or with zeros, so in a file with fewer pages than
 * this its first byte is no b-tree's: 128 GiB with pages of 4 KiB.
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

/** Whether one of the ranges is what is looked for. */
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

/** None of pages that are no b-tree's, or not as they should be. */
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

/** Whether something was there. */
export const wipeSlack = (page: Page): boolean => anySlack(page, wipe)

/** Whether something was there, so many bytes from the page's beginning on. */
export const wipeFrom = ({ bytes, at, size }: Page, from: number): boolean =>
  from < size && wipe(bytes, at + from, at + size)
