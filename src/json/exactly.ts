/** JSON of ours as a value that is written again as it was: `JSON.parse` alone would round numbers. */
import { whereChanged } from './decimals.ts'

interface Written {
  /** Of numbers, strings and the like: what stands in the text. */
  readonly source?: string
}

/** What the compiler's library does not know yet. */
interface TextAccess {
  parse(
    text: string,
    reviver?: (name: string, value: unknown, context: Written) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

const { parse, rawJSON } = JSON as unknown as TextAccess

/** Only numbers of very many digits, or with an exponent, can change. */
const MAY_CHANGE = /\d[eE]|[-.\d]{16}/

const asWritten = (_name: string, value: unknown, { source }: Written): unknown =>
  typeof value === 'number' && source !== undefined && whereChanged(source) !== undefined
    ? rawJSON(source)
    : value

/** The value of valid JSON, whose numbers `JSON.stringify` spells as they were written. */
export const parseExactly = (json: string): unknown =>
  MAY_CHANGE.test(json) ? parse(json, asWritten) : parse(json)
