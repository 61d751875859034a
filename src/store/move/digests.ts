/** The rows of a move, and their checksums. */
import { createHash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Table } from './tables.ts'

export interface Moved {
  readonly table: string
  readonly rows: number
  /** A checksum that does not depend on the order of rows. */
  readonly digest: string
}

export type Progress = (table: string, rows: number, total: number) => void

export type Row = (string | number | boolean | Uint8Array | null)[]

/** Equal for equal sets of rows, and only for those. */
export function digester() {
  let sum = 0n
  let rows = 0
  return {
    add(row: Row): void {
      rows++
      sum += BigInt(`0x${createHash('sha256').update(JSON.stringify(row)).digest('hex')}`)
    },
    result: () => ({ rows, digest: (sum & ((1n << 256n) - 1n)).toString(16).padStart(64, '0') }),
  }
}

export function* rowsOf(source: DatabaseSync, { source: sql, columns }: Table): Generator<Row> {
  const query = source.prepare(sql)
  query.setReturnArrays(true)
  for (const found of query.iterate()) {
    const row = Object.values(found) as Row
    yield row.map((value, i) => {
      if (value instanceof Uint8Array) return Buffer.from(value)
      return columns[i]?.type === 'BOOLEAN' ? value === 1 : value
    })
  }
}
