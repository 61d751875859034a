/** Addresses of the console's pages. */

export const SIGN_IN = '/console/sign-in'
export const AGENTS = '/console'
export const SEARCH = `${AGENTS}/search`
export const BIRTH = '/console/birth'
export const ACCOUNT = '/console/account'
export const ROOMS = '/#rooms'
export const REMOVE_ENTRY = '/console/entries/remove'

const HERE = 'http://here'

/** A return address, if it is a page of the console (no open redirects). */
export function consolePath(asked: string): string | undefined {
  const url = URL.parse(asked, HERE)
  const ours = url?.origin === HERE && /^\/console(\/|$)/.test(url.pathname)
  return ours ? url.pathname + url.search : undefined
}

/** The sign-in, which returns to this page. */
export const signInFor = (path: string, search: string): string =>
  `${SIGN_IN}?next=${encodeURIComponent(search ? `${path}?${search}` : path)}`

export const agentPath = (agentId: string): string => `/console/agents/${agentId}`

export const memoryPath = (agentId: string, key: string, below = ''): string =>
  `${agentPath(agentId)}/memory${below}?key=${encodeURIComponent(key)}`

/** Where changes are taken back. */
export const rollbackPath = (agentId: string, query = ''): string =>
  `${agentPath(agentId)}/rollback${query && `?${query}`}`

/** The clients that can be connected, or the panel of one. */
export function connectPath(
  agentId: string,
  client = '',
  query: Readonly<Record<string, string>> = {},
): string {
  const search = String(new URLSearchParams(query))
  return `${agentPath(agentId)}/connect${client && `/${client}`}${search && `?${search}`}`
}
