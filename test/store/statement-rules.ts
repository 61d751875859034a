/**
 * Which statements a database can be sent that keeps homes on several servers: they name the home by
 * a parameter, in a form that a server of many understands. The rules are Citus's, which finds the
 * server of a statement by its text.
 */
import { readFileSync } from 'node:fs'
import { schemaOf } from '../../src/store/schema.ts'

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export const distribution = textOf('deploy/citus.sql')
const [, listed = ''] = /ARRAY\[([^\]]*)\]/.exec(distribution) ?? []
export const distributed = new Set([...listed.matchAll(/'(\w+)'/g)].map(([, name = '']) => name))

export const schema = schemaOf('postgres')
export const created = [...schema.matchAll(/TABLE IF NOT EXISTS (\w+) \(([^;]*);/g)].map(
  ([, name = '', columns = '']) => ({ name, columns }),
)
const tables = [...created.map(({ name }) => name), 'token_homes']

/** The queries of a statement, each with `[]` for those in it, and brackets for other parentheses. */
function queriesOf(statement: string): string[] {
  const INNERMOST = /\(([^()]*)\)/
  const queries: string[] = []
  let rest = statement
  for (let found = INNERMOST.exec(rest); found; found = INNERMOST.exec(rest)) {
    const [whole, inner = ''] = found
    const isQuery = /^\s*(?:SELECT|INSERT|UPDATE|DELETE)\b/.test(inner)
    if (isQuery) queries.push(...inner.split(/\bUNION(?: ALL)?\b/))
    rest = rest.replace(whole, () => (isQuery ? '[]' : `[${inner}]`))
  }
  return [...queries, ...rest.split(/\bUNION(?: ALL)?\b/)]
}

const MENTION = /\b(INTO|FROM|JOIN|UPDATE|USING)\s+(?!now\b)(\w+)\b(?:\s+(?:AS\s+)?([a-z]\w*)\b)?/g

/** Whether the rows of the table that a query calls `name` are of the home that a parameter names. */
function isNamed(name: string, query: string, isOnly: boolean, seen = new Set<string>()): boolean {
  const column = isOnly ? `(?:${name}\\.)?` : `${name}\\.`
  if (new RegExp(`(?<![\\w.])${column}agent_id = (?:\\$|ANY\\[\\$)`).test(query)) return true
  seen.add(name)
  const joined = [...query.matchAll(/\b(\w+)\.agent_id = (\w+)\.agent_id/g)]
  return joined
    .filter((pair) => pair.includes(name, 1))
    .flatMap((pair) => pair.slice(1))
    .some((other) => !seen.has(other) && isNamed(other, query, false, seen))
}

const INSERTS_FOR =
  /INTO \w+(?: AS \w+)?\s*\[\s*agent_id\b[^\]]*\]\s*(?:VALUES \[\$1|SELECT (?:\$1|(?:\w+\.)?agent_id)\b)/

const FORBIDDEN = {
  'an element of an array by array_position': /array_position/,
  'an element of an array parameter': /\$\d+(?:::\w+\[\])?\)?\[/,
  'a function that is only stable': /convert_to/,
} as const

export const UNNAMED = (table: string) => `${table} of a home that no parameter names`
export const MIXED = 'a home beside a table of the coordinator'
export const NOT_SELECT = 'a change in a CTE, and no SELECT at the end'
export const INSERT_WITHIN = 'an INSERT beside other queries'

const NAMED_QUERIES = /^\s*WITH\s+(?:RECURSIVE\s+)?(?:\w+(?: \[[^\]]*\])? AS \[\],?\s*)+/

/** Why a statement asks several servers, or is refused: nothing if it asks one, or the coordinator. */
export function faultsOf(statement: string): string[] {
  const queries = queriesOf(statement)
  const mentioned = queries.flatMap((query) => [...query.matchAll(MENTION)])
  const known = mentioned.filter(([, , table = '']) => tables.includes(table))
  const ofHomes = known.filter(([, , table = '']) => distributed.has(table))
  if (ofHomes.length === 0) return []
  const faults: string[] = Object.entries(FORBIDDEN)
    .filter(([, form]) => form.test(statement))
    .map(([fault]) => fault)
  if (ofHomes.length < known.length) faults.push(MIXED)
  const last = (queries.at(-1) ?? '').replace(NAMED_QUERIES, '')
  const changesWithin = queries.slice(0, -1).some((each) => /^\s*(INSERT|UPDATE|DELETE)/.test(each))
  if (changesWithin && !last.startsWith('SELECT')) faults.push(NOT_SELECT)
  if (queries.slice(0, -1).some((each) => /^\s*INSERT/.test(each))) faults.push(INSERT_WITHIN)
  for (const query of queries) {
    const mentions = [...query.matchAll(MENTION)]
    const isOnly = mentions.filter(([, verb]) => verb !== 'INTO').length === 1
    for (const [, verb, table = '', alias = table] of mentions) {
      if (!distributed.has(table)) continue
      const named = verb === 'INTO' ? INSERTS_FOR.test(query) : isNamed(alias, query, isOnly)
      if (!named) faults.push(UNNAMED(table))
    }
  }
  return faults
}
