/** The schemas of both engines, each in one SQL file, and which programs may use a database. */
import { readProgramFile } from '../program-files.ts'

/** The schema version of both engines. It increases with each change. */
export const SCHEMA = 28

/**
 * The oldest program, by its SCHEMA, that may still use a database of this schema. A step that only
 * adds leaves it as it is; one that takes something away, or changes what it means, raises it.
 */
export const OLDEST = 28

/** What a database says of itself. */
export interface Versions {
  readonly version: number
  /** The oldest program that may use it. */
  readonly oldest: number
}

export const schemaOf = (engine: 'sqlite' | 'postgres'): string =>
  readProgramFile(`./${engine}/schema.sql`, import.meta.url)

/** Made by this program, or by a newer one that took nothing away since. */
export const isUsable = ({ version, oldest }: Versions): boolean =>
  version >= SCHEMA && oldest <= SCHEMA

/** For a schema that this program can neither use nor migrate. */
export const unknownSchema = (database: string, { version, oldest }: Versions): string =>
  oldest > SCHEMA
    ? `${database} has schema ${version}, for programs that know ${oldest} or newer, and this program knows ${SCHEMA}. Run the newer program that wrote it.`
    : `${database} has schema ${version}, which no release wrote. Export its agents with the program that wrote it, and import them into a new database.`

/** For `agent-home doctor`. */
export function schemaFinding(found: Versions) {
  const about = 'schema'
  const says = `it is ${found.version}, and this program knows ${SCHEMA}`
  if (isUsable(found)) return { about, state: 'good', says } as const
  return found.oldest > SCHEMA
    ? ({ about, state: 'wrong', says, advice: 'Run the newer program that wrote it.' } as const)
    : ({ about, state: 'odd', says, advice: MIGRATION } as const)
}

const MIGRATION = 'The next start brings it up to date: back it up first.'
