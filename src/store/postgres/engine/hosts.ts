/** The servers in DATABASE_URL: one, or several of which one at a time is the primary. */
import { StoreRefused } from '../../port/errors.ts'
import { refuseUnknown } from './parameters.ts'

export interface Hosts {
  readonly count: number
  /** The URL to connect to now. */
  current(): string
  /** The server at this URL does not answer as the primary: move to the next, unless already done. */
  failed(url: string): void
  /** A query parameter of the URL. */
  option(name: string): string | undefined
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?]*@)?)([^/?]*)(.*)$/

/** As the driver reads it: with a user and without a host, the parameters have the host. */
function parsed(url: string): URL {
  const found = URL.parse(url) ?? URL.parse(url.replace('@/', '@localhost/'))
  // An unencoded / or # ends the password early: the rest would be shown as the path.
  const isCut = found && (found.hash !== '' || found.pathname.includes('@'))
  if (found && !isCut) return found
  throw new StoreRefused(
    "The database's URL cannot be read. It is postgres://user:password@host:port/database, with the port at most 65535 and each of : / ? # @ in a password percent-encoded.",
  )
}

/**
 * `postgres://user:secret@a:5432,b:5432/home` names the same database on two servers. Throws
 * StoreRefused if the URL cannot be read, or has a parameter that would be ignored.
 */
export function hostsOf(databaseUrl: string): Hosts {
  const [, head = '', names = '', tail = ''] = PARTS.exec(databaseUrl) ?? []
  const urls = names.split(',').map((name) => head + name + tail)
  const [parameters = new URLSearchParams()] = urls.map((url) => parsed(url).searchParams)
  refuseUnknown(parameters)
  let at = 0
  const current = () => urls[at] ?? databaseUrl
  return {
    count: urls.length,
    current,
    failed(url) {
      if (url === current()) at = (at + 1) % urls.length
    },
    option: (name) => parameters.get(name) ?? undefined,
  }
}

/** The URL for people: servers and database, without credentials and options. */
export const locationOf = (databaseUrl: string): string => {
  const [, , names = '', tail = ''] = PARTS.exec(databaseUrl) ?? []
  return `postgres://${names}${tail.replace(/\?.*$/, '')}`
}
