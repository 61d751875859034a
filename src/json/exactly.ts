/** Parses our own JSON for serializing it again: `JSON.parse` alone would round numbers. */
import { whereChanged } from './decimals.ts'

interface Written {
  /** The source text of a primitive value. */
  readonly source?: string
}

/** Not in TypeScript's library yet. */
interface TextAccess {
  parse(
    text: string,
    reviver?: (name: string, value: unknown, context: Written) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

const { parse, rawJSON } = JSON as unknown as TextAccess

/** Only numbers with very many digits or an exponent can change. */
const MAY_CHANGE = /\d[eE]|[-.\d]{16}/

const asWritten = (_name: string, value: unknown, { source }: Written): unknown =>
  typeof value === 'number' && source !== undefined && whereChanged(source) !== undefined
    ? rawJSON(source)
    : value

/** The value of valid JSON; `JSON.stringify` writes its numbers as they were. */
export const parseExactly = (json: string): unknown =>
  MAY_CHANGE.test(json) ? parse(json, asWritten) : parse(json)
