/** The schemas of both engines, each in one SQL file. */
import { readProgramFile } from '../program-files.ts'

/** The schema version of both engines. It increases with each change. */
export const SCHEMA = 24

export const schemaOf = (engine: 'sqlite' | 'postgres'): string =>
  readProgramFile(`./${engine}/schema.sql`, import.meta.url)

/** For a schema that is neither current nor released. */
export const unknownSchema = (database: string, version: number): string =>
  version > SCHEMA
    ? `${database} has schema ${version}, and this program knows ${SCHEMA}. Run the newer program that wrote it.`
    : `${database} has schema ${version}, which no release wrote. Export its agents with the program that wrote it, and import them into a new database.`

export const tooNewToVerify = (database: string, version: number): string =>
  `${database} has schema ${version}, and this program knows ${SCHEMA}. Verify it with the newer program that wrote it.`
