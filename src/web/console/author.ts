/** Who did something, in words. */
import { html } from 'hono/html'
import type { Author } from '../../store/port/identity.ts'
import type { Html } from '../layout/page.ts'

/** A filter of events by their author. */
export const authorId = ({ as, key }: Author): string => key?.id ?? as

/** Without its run. */
export function nameOf({ as, via, account, key }: Author, me: string): string {
  if (key) return `The key “${key.name}”`
  if (as === 'agent') return 'The agent'
  if (via === 'host') return 'A command on the host'
  return account === me ? 'You' : (account ?? 'The operator token')
}

const runOf = ({ run }: Author): string => (run === undefined ? '' : `, run “${run}”`)

/** `me`: the address of whoever reads it. No author: from before authors were recorded. */
export const authorName = (by: Author | undefined, me: string): string =>
  by ? nameOf(by, me) + (by.via === 'mcp' ? ', through MCP' : '') + runOf(by) : 'Not known'

/** Within a sentence. */
export const authorWithin = (by: Author | undefined, me: string): string =>
  authorName(by, me).replace(/^(A |The |You\b(?!@))/, (first) => first.toLowerCase())

export const byWhom = (by: Author | undefined, me: string): Html =>
  html`<bdi>${authorName(by, me)}</bdi>`
