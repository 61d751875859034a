/** `agent-home verify`: verifies a database file, a database of PostgreSQL, or an export with history. */
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { type ExportFault, type VerifiedExport, verifyExport } from 'agent-home-client'
import { nameOf, verifyDatabase } from '../../store/maintenance.ts'
import type { Verified, Violation } from '../../store/port/check.ts'
import { processTimers } from '../../timers.ts'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure, usage } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

/** A progress line that disappears at the end. */
export const checkingOn =
  ({ isWatched, tell }: Terminal) =>
  (done: number, of: number): void => {
    if (isWatched) tell(done < of ? `\r  check ${done + 1} of ${of}` : '\r\u001b[K')
  }

const faultText = ({ fault, count, places }: Violation): string => {
  const more = count > places.length ? `\n    and ${count - places.length} more` : ''
  return `  ${fault}:\n${places.map((place) => `    ${place}`).join('\n')}${more}\n`
}

export const faultsText = (faults: readonly Violation[]): string => faults.map(faultText).join('')

const countsText = ({ counts }: Verified): string =>
  Object.entries(counts)
    .map(([name, count]) => `  ${name.padEnd(10)} ${count}\n`)
    .join('')

const olderText = ({ schema: { found, known } }: Verified): string =>
  found === known
    ? ''
    : `Its schema is ${found}, of an older program, so only its integrity was checked. Starting this program upgrades it to ${known}; then everything can be checked.\n`

const unprovenText = (memories: number): string =>
  memories === 0
    ? ''
    : `  Not proven: ${memories} of the memories, and that no other is missing, because their events were pruned, or are older than the chain\n`

export function verifiedText(file: string, verified: Verified): string {
  const { faults, checks, bytes } = verified
  const head =
    faults.length > 0
      ? `${file} has errors: ${faults.length} of ${checks} checks failed.\n`
      : `${file} is sound: ${checks} checks, ${bytes} bytes.\n`
  return (
    head +
    faultsText(faults) +
    countsText(verified) +
    unprovenText(verified.unproven) +
    olderText(verified)
  )
}

/** A progress line for `verifyExport`, and what ends it. */
export function exportText({ isWatched, tell }: Terminal) {
  return {
    progress: (checked: number) => void (isWatched && tell(`\r  ${checked} events and versions`)),
    done: () => void (isWatched && tell('\r\u001b[K')),
  }
}

/** As many are listed as of a database. */
const MOST_PLACES = 5

function violationsIn(faults: readonly ExportFault[]): Violation[] {
  const byFault = Map.groupBy(faults, ({ fault }) => fault)
  return Array.from(byFault, ([fault, all]) => {
    const places = all.slice(0, MOST_PLACES).map(({ place }) => place)
    return { fault, count: all.length, places }
  })
}

export function verifiedExportReport(name: string, verified: VerifiedExport) {
  const { faults, events, proven, unproven, unprovenKeys, previous, head } = verified
  const facts = `  ${events} events, from ${previous.id + 1} to ${head.id}: ${head.hash}
  ${proven} texts match the commitments of their events
  ${unproven} texts are older than the chain, or than the kept events
${unprovenText(unprovenKeys)}`
  const sound = `${name} is intact: every event follows the one before it, and the memories match the events.\n`
  const broken = `${name} was altered or damaged.\n${faultsText(violationsIn(faults))}`
  const isSound = faults.length === 0
  return {
    value: verified,
    text: (isSound ? sound : broken) + facts,
    exit: isSound ? undefined : EXIT.failed,
  }
}

const BEGINNING = 64

/** A database begins with the name of its format. */
function isExport(file: string): boolean {
  if (!existsSync(file)) return false
  if (statSync(file).isDirectory()) throw usage(`${file} is a directory. Name the file in it.`)
  const opened = openSync(file, 'r')
  const bytes = Buffer.alloc(BEGINNING)
  readSync(opened, bytes)
  closeSync(opened)
  return bytes.toString('utf8').trimStart().startsWith('{')
}

async function verifyExportFile(file: string, terminal: Terminal): Promise<Report> {
  const { progress, done } = exportText(terminal)
  let verified: VerifiedExport
  try {
    verified = await verifyExport(readFileSync(file, 'utf8'), { progress })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new Failure(EXIT.failed, `${file} cannot be verified: ${error.message}`)
  } finally {
    done()
  }
  const { value, text, exit } = verifiedExportReport(file, verified)
  return { value: { file, ...value }, text, ...(exit && { exit }) }
}

export async function verifyCommand(
  { args: [file = ''] }: Given,
  terminal: Terminal,
): Promise<Report> {
  if (file === '') throw usage('Name a database, a backup or an export.')
  if (isExport(file)) return verifyExportFile(file, terminal)
  const verified = await verifyDatabase(file, processTimers, checkingOn(terminal))
  const exit = verified.faults.length > 0 ? EXIT.failed : EXIT.done
  const name = nameOf(file)
  return { value: { file: name, ...verified }, text: verifiedText(name, verified), exit }
}
