/** The servers in DATABASE_URL: one, or several of which one at a time is the primary. */

export interface Hosts {
  readonly count: number
  /** The URL to connect to now. */
  current(): string
  /** The server at this URL does not answer as the primary: move to the next, unless already done. */
  failed(url: string): void
  /** A query parameter of the URL. */
  option(name: string): string | undefined
}

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/

/** `postgres://user:secret@a:5432,b:5432/home` names the same database on two servers. */
export function hostsOf(databaseUrl: string): Hosts {
  const [, head = '', names = '', tail = ''] = PARTS.exec(databaseUrl) ?? []
  const urls = names.split(',').map((name) => head + name + tail)
  let at = 0
  const current = () => urls[at] ?? databaseUrl
  return {
    count: urls.length,
    current,
    failed(url) {
      if (url === current()) at = (at + 1) % urls.length
    },
    option: (name) => URL.parse(current())?.searchParams.get(name) ?? undefined,
  }
}

/** The URL for people: servers and database, without credentials and options. */
export const locationOf = (databaseUrl: string): string => {
  const [, , names = '', tail = ''] = PARTS.exec(databaseUrl) ?? []
  return `postgres://${names}${tail.replace(/\?.*$/, '')}`
}
