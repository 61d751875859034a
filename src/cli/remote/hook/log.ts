/** What went wrong in hooks, which must not disturb the program that runs them: one bounded file. */
import { appendFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectories } from '../../../directories.ts'
import { besideProfiles } from '../profiles.ts'
import { readText, replaceFile } from './files.ts'

export interface Trouble {
  /** RFC 3339. */
  readonly at: string
  readonly client: string
  readonly event: string
  readonly message: string
}

export const MAX_LOG_BYTES = 65_536
const MAX_MESSAGE = 500

const logFile = (): string => besideProfiles('hooks.log')

const linesIn = (text = ''): string[] => text.split('\n').filter(Boolean)

function troubleIn(line: string): Trouble[] {
  try {
    const { at, client, event, message } = JSON.parse(line) as Readonly<Record<string, unknown>>
    return [{ at: `${at}`, client: `${client}`, event: `${event}`, message: `${message}` }]
  } catch {
    // Two programs wrote at once.
    return []
  }
}

/** Oldest first. */
export const readTroubles = (): readonly Trouble[] =>
  linesIn(readText(logFile())).flatMap(troubleIn)

export const clearTroubles = (): void => rmSync(logFile(), { force: true })

const isSame = (one: Trouble, other: Trouble): boolean =>
  one.client === other.client && one.event === other.event && one.message === other.message

/** The newest lines that leave half of the room. */
function newest(lines: readonly string[]): string[] {
  let left = MAX_LOG_BYTES / 2
  const first = lines.findLastIndex((line) => {
    left -= Buffer.byteLength(line) + 1
    return left < 0
  })
  return lines.slice(first + 1)
}

/** A trouble that is in the log already is not added again. */
export function recordTrouble({ message, ...rest }: Trouble): void {
  const trouble = { ...rest, message: message.slice(0, MAX_MESSAGE) }
  const path = logFile()
  const line = `${JSON.stringify(trouble)}\n`
  const text = readText(path)
  if (text === undefined) return
  const lines = linesIn(text)
  if (lines.flatMap(troubleIn).some((each) => isSame(each, trouble))) return
  makeDirectories(dirname(path), 0o700)
  const size = Buffer.byteLength(lines.join('\n')) + 1
  if (size + Buffer.byteLength(line) > MAX_LOG_BYTES)
    replaceFile(path, `${newest(lines).join('\n')}\n`)
  appendFileSync(path, line, { mode: 0o600 })
}
