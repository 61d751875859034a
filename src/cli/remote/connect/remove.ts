/** `agent-home connect CLIENT --remove`: every file as it was, the key ended, the profile gone. */
import { rmdirSync } from 'node:fs'
import { basename } from 'node:path'
import type { Given, Report } from '../../command.ts'
import { EXIT } from '../../exit-codes.ts'
import { missing } from '../../failure.ts'
import { clients, type Place } from './clients.ts'
import { differenceOf } from './difference.ts'
import { type Restoration, restorationsOf, restore } from './file-set.ts'
import { endKey, save } from './key.ts'
import {
  type Connection,
  directoryOf,
  forgetConnection,
  notesDirectory,
  readConnection,
  readConnections,
  readCopy,
} from './record.ts'
import { targetsOf, type Wiring } from './targets.ts'

/** Throws Failure, before anything is changed. */
export function restorationsIn({ wiring, place, files }: Connection): readonly Restoration[] {
  const client = clients[wiring.client]
  const targets = client ? targetsOf(client, wiring, place) : []
  return restorationsOf(files, targets, place, readCopy(directoryOf(wiring, place)))
}

/** Of another copy of the project, which has the same profile. */
export const sharersOf = (directory: string, { profile }: Wiring): readonly Connection[] =>
  readConnections().filter(
    ({ wiring, place }) => wiring.profile === profile && directoryOf(wiring, place) !== directory,
  )

/** The notes themselves stay. */
function removeNotes(profile: string): boolean {
  try {
    rmdirSync(notesDirectory(profile))
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
  return false
}

async function endAll(given: Given, { wiring, keyId, operator }: Connection) {
  const { profile } = wiring
  const options = { ...(operator && { profile: operator }), ...given.options }
  const problem =
    keyId === undefined ? undefined : await endKey({ ...given, options }, keyId, profile)
  if (keyId !== undefined) save(profile, undefined)
  return problem
}

const lineOf = ({ path, after, isLeft }: Restoration): string => {
  if (isLeft) return `left     ${path}: it was changed since\n`
  return `${after === undefined ? 'removed ' : 'restored'} ${path}\n`
}

export async function removeConnection(
  given: Given,
  wiring: Wiring,
  place: Place,
): Promise<Report> {
  const { profile } = wiring
  const directory = directoryOf(wiring, place)
  const found = readConnection(directory)
  if (!found) throw missing(`${profile} is not connected here. agent-home connect lists what is.`)
  const restorations = restorationsIn(found)
  const value = { removed: profile, files: restorations.map(({ path }) => path) }
  if (given.flags.has('dry-run')) {
    const text = restorations.map(({ path, now, after }) => differenceOf(path, now, after)).join('')
    return { value, text, note: 'Nothing was changed.\n' }
  }
  const sharers = sharersOf(directory, wiring)
  const ends = sharers.length === 0 ? `, and end its key` : ''
  await given.confirm(`Take ${profile} out of ${restorations.length} files${ends}?`)
  restore(restorations)
  const problem = sharers.length === 0 ? await endAll(given, found) : undefined
  forgetConnection(directory)
  const hasNotes = sharers.length === 0 && removeNotes(profile)
  const notes = hasNotes ? `Its notes stay in ${notesDirectory(profile)}.\n` : ''
  const shared = sharers.map((each) => `${basename(each.place.root)} still uses its key.\n`)
  return {
    value: { ...value, ...(problem && { problem }) },
    text: restorations.map(lineOf).join(''),
    note: `${problem ? `${problem}\n` : ''}${notes}${shared.join('')}`,
    ...(problem && { exit: EXIT.failed }),
  }
}
