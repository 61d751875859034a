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

const person = (account: string | undefined): Html =>
  account === undefined ? nothing : html` <bdi>${account}</bdi>`

const keyOf = (key: Author['key']): Html =>
  key ? html` with the key “<bdi>${key.name}</bdi>”` : nothing

/** Undefined for changes from before authors were recorded. */
export const byWhom = (by: Author | undefined): Html =>
  by
    ? html`${by.as === 'agent' ? 'The agent' : 'The operator'}${person(by.account)}${keyOf(by.key)}${through(by)}`
    : html`Not known`
