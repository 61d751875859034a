/**
 * The query parameters of a database's URL. The driver ignores one that it does not know, and takes
 * any value: `sslmod=require` would be a connection without TLS.
 */
import { accessSync, constants } from 'node:fs'
import { StoreRefused } from '../../port/errors.ts'

/** What a value must be, in words; undefined: it is. */
type Rule = (value: string) => string | undefined

const oneOf =
  (...values: readonly string[]): Rule =>
  (value) =>
    values.includes(value) ? undefined : `must be one of ${values.join(', ')}`

const matching =
  (pattern: RegExp, otherwise: string): Rule =>
  (value) =>
    pattern.test(value) ? undefined : otherwise

const text: Rule = (value) => (value === '' ? 'must not be empty' : undefined)

const readableFile: Rule = (path) => {
  try {
    accessSync(path, constants.R_OK)
    return undefined
  } catch (error) {
    return `must be a file that can be read (${(error as NodeJS.ErrnoException).code})`
  }
}

const flag = oneOf('true', 'false')

const RULES = new Map<string, Rule>(
  Object.entries({
    // This program's own.
    pool_max: matching(/^[1-9]\d{0,3}$/, 'must be a whole number from 1 to 9999'),
    prepared: flag,
    // The driver's.
    application_name: text,
    host: text,
    lock_timeout: matching(/^\d{1,9}$/, 'must be a whole number of milliseconds'),
    options: text,
    password: text,
    port: (value) =>
      /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535 ? undefined : 'must be a port number',
    ssl: oneOf('true', 'false', '1', '0', 'no-verify'),
    sslcert: readableFile,
    sslkey: readableFile,
    sslmode: oneOf('disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'),
    sslnegotiation: oneOf('postgres', 'direct'),
    sslrootcert: readableFile,
    uselibpqcompat: flag,
    user: text,
  }),
)

export const PARAMETERS: readonly string[] = [...RULES.keys()]

/** What is not a plain name may be a part of a password that is not percent-encoded. */
const shown = (name: string): string => (/^\w{1,40}$/.test(name) ? name : 'one that is not a name')

function faultOf(name: string, values: readonly string[]): string | undefined {
  const rule = RULES.get(name)
  if (!rule) return `has a parameter that is not supported: ${shown(name)}`
  if (values.length > 1) return `has the parameter ${name} twice`
  const fault = rule(values[0] ?? '')
  return fault && `has a parameter with a wrong value: ${name} ${fault}`
}

/** Throws StoreRefused for the first parameter that would be ignored or misread. */
export function refuseUnknown(parameters: URLSearchParams): void {
  for (const name of new Set(parameters.keys())) {
    const fault = faultOf(name, parameters.getAll(name))
    if (fault) {
      throw new StoreRefused(
        `The database's URL ${fault}. The parameters are ${PARAMETERS.join(', ')}.`,
      )
    }
  }
}
