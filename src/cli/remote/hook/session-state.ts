/** What a session was already given, and how much of it was captured: a small file for each. */
import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { besideProfiles } from '../profiles.ts'
import { readText, replaceFile } from './files.ts'

export interface SessionState {
  /** Versions of memories, as `key@version`. */
  readonly given: readonly string[]
  /** Parts of the transcript, and the number of the last piece of them. */
  readonly parts: number
  readonly pieces: number
}

const NOTHING: SessionState = { given: [], parts: 0, pieces: 0 }

const MAX_GIVEN = 500
const MAX_SESSIONS = 500
const MAX_AGE_MS = 30 * 24 * 3_600_000

const directory = (): string => besideProfiles('hooks')

/** Of a client, at a home: two programs may give their sessions the same id. */
export const stateFile = (...names: readonly string[]): string => {
  const hash = createHash('sha256').update(JSON.stringify(names)).digest('hex')
  return join(directory(), `${hash.slice(0, 32)}.json`)
}

const count = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0

/** A file that is damaged is as good as none. */
export function readState(path: string): SessionState {
  try {
    const { given, parts, pieces } = JSON.parse(readText(path) ?? '')
    const known = Array.isArray(given) ? given.filter((each) => typeof each === 'string') : []
    return { given: known, parts: count(parts), pieces: count(pieces) }
  } catch {
    return NOTHING
  }
}

export const saveState = (path: string, state: SessionState): void =>
  replaceFile(path, JSON.stringify({ ...state, given: state.given.slice(-MAX_GIVEN) }))

/** Removes the states of old sessions, and the oldest of too many. */
export function sweepStates(now: number): void {
  const files = readdirSync(directory()).map((name) => join(directory(), name))
  const dated = files.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false })
    return found?.isFile() ? [{ path, at: found.mtimeMs }] : []
  })
  const oldestFirst = dated.toSorted((a, b) => a.at - b.at)
  const surplus = oldestFirst.length - MAX_SESSIONS
  for (const [place, { path, at }] of oldestFirst.entries())
    if (place < surplus || now - at > MAX_AGE_MS) rmSync(path, { force: true })
}
