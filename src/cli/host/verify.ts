/** `agent-home verify`: verifies a database file. */

import { verifyFile } from '../../store/at-rest.ts'
import type { Verified, Violation } from '../../store/port/rest.ts'
import type { Given, Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
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
    : `Its schema is ${found}, of an older program: only its soundness was checked. A start of this program brings it to ${known}, and then all can be.\n`

export function verifiedText(file: string, verified: Verified): string {
  const { faults, checks, bytes } = verified
  const head =
    faults.length > 0
      ? `${file} is not as it should be: ${faults.length} of ${checks} checks failed.\n`
      : `${file} is sound: ${checks} checks, ${bytes} bytes.\n`
  return head + faultsText(faults) + countsText(verified) + olderText(verified)
}

export async function verifyCommand(
  { args: [file = ''] }: Given,
  terminal: Terminal,
): Promise<Report> {
  const verified = await verifyFile(file, checkingOn(terminal))
  const exit = verified.faults.length > 0 ? EXIT.failed : EXIT.done
  return { value: { file, ...verified }, text: verifiedText(file, verified), exit }
}
