/** `agent-home backup`: a verified copy of the data. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { loadConfig } from '../../config.ts'
import { copyDatabase, verifyDatabase } from '../../store/maintenance.ts'
import { processTimers } from '../../timers.ts'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { refuseExisting, rename, withTemporary } from '../temporary.ts'
import type { Terminal } from '../terminal.ts'
import { checkingOn, faultsText } from './verify.ts'

/** Files beside a database that is or was in use. */
const OF_A_SERVICE = ['-wal', '.lock']

function refuseTaken(file: string, force: boolean): void {
  if (OF_A_SERVICE.some((end) => existsSync(file + end))) {
    throw new Failure(EXIT.failed, `${file} is a database that a service uses. Name another file.`)
  }
  refuseExisting(file, force)
}

const copyingOn =
  ({ isWatched, tell }: Terminal) =>
  (done: number, of: number): void => {
    if (isWatched) tell(done < of ? `\r  ${Math.floor((100 * done) / of)} %` : '\r\u001b[K')
  }

async function backUp(file: string, terminal: Terminal): Promise<Report> {
  const { DATABASE_URL } = loadConfig()
  return withTemporary(file, terminal, async (temporary) => {
    const source = await copyDatabase(DATABASE_URL, temporary, copyingOn(terminal), processTimers)
    const verified = await verifyDatabase(temporary, processTimers, checkingOn(terminal))
    const { faults, bytes, checks } = verified
    const to = faults.length > 0 ? `${file}.faulty` : file
    rename(temporary, to)
    const value = { source, file: to, ...verified }
    if (faults.length === 0) {
      const text = `${source} is backed up to ${file}: ${bytes} bytes, ${checks} checks passed.\n`
      return { value, text }
    }
    const text = `${source} has errors. It was copied to ${to}; nothing else was changed.\n`
    return { value, text: text + faultsText(faults), exit: EXIT.failed }
  })
}

export async function backupCommand(
  { args: [given = ''], flags }: Given,
  terminal: Terminal,
): Promise<Report> {
  const file = resolve(given)
  refuseTaken(file, flags.has('force'))
  return backUp(file, terminal)
}
