/** What is said while a database of an older program is brought up to date. */
import type { Writable } from 'node:stream'
import type { Logger } from 'pino'
import type { Progress } from './store/port/store.ts'

const line = (done: number, of: number): string =>
  `\r  Bringing the database up to date: ${done.toLocaleString('en-US')} of ${of.toLocaleString('en-US')} memories`

/** One line, written anew. */
const onTerminal =
  (terminal: Writable): Progress =>
  (done, of) => {
    terminal.write(`${line(done, of)}${done === of ? '\n' : ''}`)
  }

/** Nobody sees a line being written anew in a log. */
const inLog =
  (log: Pick<Logger, 'info'>): Progress =>
  (done, of) => {
    if (done === 0) log.info({ memories: of }, 'bringing the database up to date')
    if (done === of) log.info('the database is up to date')
  }

/** `terminal`: undefined where nobody watches. */
export const tellProgress = (
  log: Pick<Logger, 'info'>,
  terminal: Writable | undefined,
): Progress => (terminal ? onTerminal(terminal) : inLog(log))
