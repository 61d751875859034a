/** `agent-home move`: moves all data from SQLite to PostgreSQL, or back. */
import type { Moved } from '../../store/move/digests.ts'
import { move } from '../../store/move/move.ts'
import { processTimers } from '../../timers.ts'
import type { Given, Report } from '../command.ts'
import type { Terminal } from '../terminal.ts'

/** One line per table, updated while its rows are copied. */
const progressOn =
  ({ isWatched, tell }: Terminal) =>
  (table: string, rows: number, total: number): void => {
    if (!isWatched) return
    tell(`\r  ${table.padEnd(14)} ${rows} of ${total}${rows === total ? '\n' : ''}`)
  }

const lineOf = ({ table, rows, digest }: Moved): string =>
  `  ${table.padEnd(14)} ${rows}  ${digest.slice(0, 16)}\n`

export async function moveCommand(
  { options: { from = '', to = '' } }: Given,
  terminal: Terminal,
): Promise<Report> {
  const moved = await move(from, to, Date.now(), processTimers, progressOn(terminal))
  const text = `Moved. Row counts and digests are equal on both sides:
${moved.map(lineOf).join('')}Start the service with the new DATABASE_URL. Every token stays valid.
`
  return { value: { moved }, text }
}
