/** The schemas of both engines, each written down in one file of SQL. */
import { readFileSync } from 'node:fs'

/** The version of both. It rises with each change of a schema; 1.0.0 alone was released before. */
export const SCHEMA = 20

export const schemaOf = (engine: 'sqlite' | 'postgres'): string =>
  readFileSync(new URL(`./${engine}/schema.sql`, import.meta.url), 'utf8')

/** Of a schema that is neither today's nor a released one. */
export const unknownSchema = (database: string, version: number): string =>
  version > SCHEMA
    ? `${database} has schema ${version}, and this program knows ${SCHEMA}. Run the newer program that wrote it.`
    : `${database} has schema ${version}, which no release wrote. Export its agents with the program that wrote it, and import them into a new database.`
