/** Which items the filter of a search asks for. */
import type { Item } from '@langchain/langgraph-checkpoint'

type Compare = (found: unknown, asked: unknown) => boolean

const OPERATORS: Readonly<Record<string, Compare>> = {
  $eq: (found, asked) => found === asked,
  $ne: (found, asked) => found !== asked,
  $gt: (found, asked) => Number(found) > Number(asked),
  $gte: (found, asked) => Number(found) >= Number(asked),
  $lt: (found, asked) => Number(found) < Number(asked),
  $lte: (found, asked) => Number(found) <= Number(asked),
  $in: (found, asked) => Array.isArray(asked) && asked.includes(found),
  $nin: (found, asked) => !Array.isArray(asked) || !asked.includes(found),
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

function agrees(found: unknown, asked: unknown): boolean {
  const operators = isObject(asked) ? Object.entries(asked) : undefined
  if (!operators?.every(([name]) => Object.hasOwn(OPERATORS, name))) return found === asked
  return operators.every(([name, value]) => OPERATORS[name]?.(found, value))
}

export const matching =
  (filter: Readonly<Record<string, unknown>> = {}) =>
  ({ value }: Item): boolean =>
    Object.entries(filter).every(([name, asked]) => agrees(value[name], asked))
