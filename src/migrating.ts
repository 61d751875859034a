/** Progress of a migration. */
import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import type { Progress } from './store/port/store.ts'

const count = (n: number): string => n.toLocaleString('en-US')

/** Overwrites the line. */
const line = (said: string): string => `\r  Bringing the database up to date: ${said}\x1b[K`

/** One line, rewritten in place. */
const onTerminal =
  (terminal: Writable): Progress =>
  (done, of, isWriting) => {
    const said = isWriting ? 'writing to disk…' : `${count(done)} of ${count(of)} memories`
    terminal.write(`${line(said)}${done === of ? '\n' : ''}`)
  }

/** A log file needs no rewritten lines. */
const inLog =
  (log: Pick<Logger, 'info'>): Progress =>
  (done, of) => {
    if (done === 0) log.info({ memories: of }, 'bringing the database up to date')
    if (done === of) log.info('the database is up to date')
  }

/** `terminal`: undefined if the output is not a terminal. */
export const tellProgress = (
  log: Pick<Logger, 'info'>,
  terminal: Writable | undefined,
): Progress => (terminal ? onTerminal(terminal) : inLog(log))
