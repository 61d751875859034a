/** Inserts any number of rows with one statement. */
import { ask, type Scalar, statement, type Value, type Verb } from '../../verbs/verb.ts'

type Columns = Readonly<Record<string, 'TEXT' | 'BIGINT' | 'BOOLEAN' | 'BYTEA'>>

/**
 * One array per column, so that any number of rows is one statement. `same`: columns shared by all.
 */
export function insertRows(
  table: string,
  same: readonly string[],
  columns: Columns,
  conflict = '',
) {
  const names = Object.keys(columns).join(', ')
  const first = same.map((_, i) => `$${i + 1}`)
  const arrays = Object.values(columns).map((type, i) => `$${same.length + i + 1}::${type}[]`)
  const sql = statement(
    `INSERT INTO ${table} (${same.join(', ')}, ${names})
     SELECT ${first.join(', ')}, ${names} FROM unnest(${arrays.join(', ')}) AS t (${names})
     ${conflict}`,
  )
  return <Row extends object>(
    values: readonly Value[],
    rows: readonly Row[],
  ): Verb<readonly never[]> => {
    const listed = Object.keys(columns).map((name) =>
      rows.map((row) => row[name as keyof Row] as Scalar),
    )
    return ask(sql, ...values, ...listed)
  }
}
