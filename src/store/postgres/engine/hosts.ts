/** The servers that a DATABASE_URL names: one, or several of which one at a time is the primary. */

export interface Hosts {
  readonly count: number
  /** The URL of the server to connect to now. */
  current(): string
  /** The server under this URL would not do: the next is current, unless it is so already. */
  failed(url: string): void
  /** What the URL says of this after its `?`. */
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

/** The URL as people may see it: servers and database, no credentials, no options. */
export const locationOf = (databaseUrl: string): string => {
  const [, , names = '', tail = ''] = PARTS.exec(databaseUrl) ?? []
  return `postgres://${names}${tail.replace(/\?.*$/, '')}`
}
