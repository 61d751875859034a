/** Who did something, in words. */
import { html } from 'hono/html'
import type { Author, Door } from '../../store/port/home.ts'
import { type Html, nothing } from '../layout/page.ts'

const doors: Readonly<Record<Door, string>> = {
  api: 'by a program',
  console: 'on these pages',
  mcp: 'through MCP',
  host: 'by a command on the host',
}

/** An agent's own calls through the API are the usual case. */
const through = ({ as, via }: Author): string =>
  as === 'agent' && via === 'api' ? '' : `, ${doors[via]}`

/** Undefined for changes from before authors were recorded. */
export function byWhom(by: Author | undefined): Html {
  if (!by) return html`Not known`
  const account = by.account === undefined ? nothing : html` <bdi>${by.account}</bdi>`
  const key = by.key ? html` with the key “<bdi>${by.key.name}</bdi>”` : nothing
  return html`${by.as === 'agent' ? 'The agent' : 'The operator'}${account}${key}${through(by)}`
}
