/**
 * The environment, of which the commands for agents need no more than this: the schemas of the
 * service's settings (config.ts) would take longer to load than most of them take.
 */

export type Environment = Readonly<Record<string, string | undefined>>

/** The only reader of `process.env`. */
export const processEnvironment = (): Environment => process.env

export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Each of the problems: a variable, and what it must be. */
export const invalidConfig = (problems: readonly string[]): ConfigError =>
  new ConfigError(
    `The configuration is not valid:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  )

/** Undefined for any other address. */
export function httpOrigin(text: string): string | undefined {
  const url = URL.parse(text)
  return url && /^https?:$/.test(url.protocol) ? url.origin : undefined
}

export const NO_ADDRESS = 'must be the http or https address of an agent home'

const CLIENT_SETTINGS = [
  'AGENT_HOME_URL',
  'AGENT_HOME_TOKEN',
  'AGENT_HOME_PROFILE',
  'AGENT_HOME_RUN',
  'XDG_CONFIG_HOME',
] as const

/** Where an agent's commands find their home; unset and empty variables are left out. */
export type ClientConfig = Readonly<{
  [Name in (typeof CLIENT_SETTINGS)[number]]?: string | undefined
}>

/** Throws ConfigError. */
export function loadClientConfig(env: Environment = processEnvironment()): ClientConfig {
  const { AGENT_HOME_URL: url } = env
  if (url && httpOrigin(url) === undefined) throw invalidConfig([`AGENT_HOME_URL: ${NO_ADDRESS}`])
  const set = CLIENT_SETTINGS.filter((name) => env[name])
  return Object.freeze(Object.fromEntries(set.map((name) => [name, env[name]])))
}
