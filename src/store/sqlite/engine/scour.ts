/**
 * What `secure_delete` leaves. Where pages are balanced, a row moves to the page beside its own, and
 * a copy of it can stay in the gap of the page that it came from; only where the row lies now is
 * overwritten when it is deleted. So what lies around a row that was erased is written anew: the
 * pages in between are given up meanwhile, and those are overwritten whole. For databases that are
 * too large to be written anew: a page at the edge can stay as it is.
 */
import type { DatabaseSync } from 'node:sqlite'
import { prepare, prepareTuples } from './connection.ts'

/** On either side. Rows move to the pages next to their own. */
const PAGES = 4
const PAGE_BYTES = 4_096

/** Of a row: what lies in the page itself at least, of a longer one and beside its text. */
const LEAST_IN_PAGE = 489
const MOST_IN_PAGE = 4_061
const BESIDE_TEXT = 100

type Row = readonly (string | number | null)[]

const bytesInPage = (size: number): number =>
  size + BESIDE_TEXT > MOST_IN_PAGE ? LEAST_IN_PAGE : size + BESIDE_TEXT

/** Given in the order of `n`: where versions lay that were deleted in this transaction or before. */
export function prepareScour(db: DatabaseSync): (erased: readonly number[]) => void {
  const before = prepareTuples<[number, ...Row]>(
    db,
    'SELECT size, * FROM log WHERE n < ? ORDER BY n DESC',
  )
  const behind = prepareTuples<[number, ...Row]>(
    db,
    'SELECT size, * FROM log WHERE n > ? ORDER BY n',
  )
  const between = prepareTuples<[number]>(db, 'SELECT n FROM log WHERE n > ? AND n < ? LIMIT 1')
  const drop = prepare(db, 'DELETE FROM log WHERE n = ?')
  const columns = db.prepare('SELECT * FROM log').columns().length
  const keep = prepare(db, `INSERT INTO log VALUES (${Array(columns).fill('?').join(', ')})`)

  function take(rows: Iterable<[number, ...Row]>): Row[] {
    const taken: Row[] = []
    let bytes = 0
    for (const [size, ...row] of rows) {
      taken.push(row)
      bytes += bytesInPage(size)
      if (bytes >= PAGES * PAGE_BYTES) break
    }
    return taken
  }

  function around(n: number): void {
    const rows = [...take(before.iterate(n)).reverse(), ...take(behind.iterate(n))]
    for (const [id = null] of rows) drop.run(id)
    for (const row of rows) keep.run(...row)
  }

  return (erased) => {
    let last: number | undefined
    for (const n of erased) {
      // Those with nothing between them have the same neighbours.
      if (last === undefined || between.get(last, n)) around(n)
      last = n
    }
  }
}
