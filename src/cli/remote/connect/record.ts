/** What `connect` remembers of each connection, with copies of the files that it changed. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../exit-codes.ts'
import { Failure } from '../../failure.ts'
import { writeJson } from '../../temporary.ts'
import { besideProfiles } from '../profiles.ts'
import type { Place } from './clients.ts'
import type { Kept } from './file-set.ts'
import type { Wiring } from './targets.ts'

export interface Connection {
  readonly wiring: Wiring
  readonly place: Place
  /** Of the named key; undefined: somebody else made it. */
  readonly keyId?: string | undefined
  /** The profile that it was made with. */
  readonly operator?: string | undefined
  readonly files: readonly Kept[]
}

const NAME = 'connection.json'

const allConnections = (): string => besideProfiles('connections')

/** Of the copies and the record. */
export function directoryOf({ profile }: Pick<Wiring, 'profile'>, { root, scope }: Place): string {
  const where = createHash('sha256').update(scope === 'project' ? root : scope)
  return join(allConnections(), `${profile}-${where.digest('hex').slice(0, 8)}`)
}

/** Of Claude's own notes. */
export const notesDirectory = (profile: string): string => besideProfiles('notes', profile)

/** Undefined: there is none. Throws Failure. */
export function readConnection(directory: string): Connection | undefined {
  const path = join(directory, NAME)
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    throw new Failure(EXIT.failed, `${path} is not JSON. The copies beside it are whole.`)
  }
}

export const readCopy =
  (directory: string) =>
  (copy: string): string =>
    readFileSync(join(directory, copy), 'utf8')

export const saveConnection = (directory: string, connection: Connection): void =>
  writeJson(join(directory, NAME), connection)

export const forgetConnection = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true })

export function readConnections(): readonly Connection[] {
  const all = allConnections()
  if (!existsSync(all)) return []
  return readdirSync(all)
    .sort()
    .flatMap((name) => readConnection(join(all, name)) ?? [])
}
