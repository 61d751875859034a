/** Which changes of a home a page is about: by whom, under which keys, since when. */
import { html } from 'hono/html'
import { parse } from 'hono/utils/cookie'
import { z } from 'zod'
import { fields } from '../../../fields.ts'
import { runName } from '../../../home/agent-run.ts'
import { instant, keyAuthor } from '../../../home/events.ts'
import { findKeys } from '../../../home/keys.ts'
import { keyPrefix } from '../../../home/memories/list.ts'
import type { Call } from '../../../http/call.ts'
import { EVENT_TYPES, type HomeEvent } from '../../../store/port/events.ts'
import { iso } from '../../../time.ts'
import { input, select } from '../../layout/fields.ts'
import { nothing } from '../../layout/page.ts'
import { rollbackPath } from '../../layout/paths.ts'
import { type Clock, clockIn } from '../../layout/words.ts'
import { authorId, nameOf } from '../author.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { eventWords } from './feed.ts'

/** Fields that are left empty are not asked for. */
export const unlessEmpty = <T extends z.ZodType>(schema: T) =>
  z.preprocess((sent) => (sent === '' ? undefined : sent), schema.optional())

/** Which changes: of this page, and of those that are taken back. */
export const changeFilters = {
  by: unlessEmpty(keyAuthor),
  run: unlessEmpty(runName),
  prefix: unlessEmpty(keyPrefix),
  since: unlessEmpty(instant),
}

export interface Filters {
  readonly by?: string | undefined
  readonly run?: string | undefined
  readonly prefix?: string | undefined
  readonly since?: number | undefined
  readonly type?: string | undefined
}

/** Without what is not asked for. */
export function filtersQuery({ since, ...filters }: Filters): string {
  const said = { ...filters, since: since === undefined ? undefined : iso(since) }
  const pairs = Object.entries(said).flatMap(([name, value]) => (value ? [[name, value]] : []))
  return new URLSearchParams(pairs).toString()
}

/** The zone of the person's clock, which a script puts in a cookie. */
export const clockOf = ({ requestHeaders }: Call): Clock =>
  clockIn(parse(requestHeaders.cookie ?? '', 'zone').zone)

export const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

const periods = [
  ['The last hour', HOUR_MS],
  ['The last 24 hours', DAY_MS],
  ['The last 7 days', 7 * DAY_MS],
  ['The last 30 days', 30 * DAY_MS],
] as const

interface FilterForm {
  readonly action: string
  readonly asked: Filters
  readonly clock: Clock
  /** Events by the wanted author, which may be a key that was ended. */
  readonly known: readonly HomeEvent[]
  readonly kinds?: boolean
  /** The id of the part that a script asks for anew. */
  readonly finds?: string
}

async function authorsFor(
  workspace: Workspace,
  { identity, session }: AgentVisit,
  form: FilterForm,
) {
  const keys = await findKeys(workspace, identity)
  const authors = new Map([
    ['', 'Anyone'],
    ['agent', 'The agent, by its own token'],
    ['operator', 'You and other operators'],
    ...keys.map(({ id, name }) => [id, `The key “${name}”`] as const),
  ])
  const { by } = form.asked
  if (by !== undefined && !authors.has(by)) {
    const author = form.known.find((event) => event.by && authorId(event.by) === by)?.by
    authors.set(by, author ? nameOf(author, session.email) : 'A key that was ended')
  }
  return [...authors].map(([value, label]) => ({ value, label }))
}

/** By whom, under which keys, and since when. */
export async function filterForm(visit: AgentVisit, workspace: Workspace, form: FilterForm) {
  const { action, asked, clock, kinds = false, finds } = form
  const authors = await authorsFor(workspace, visit, form)
  const now = workspace.clock()
  const since = asked.since === undefined ? '' : iso(asked.since)
  const times = [
    ...(kinds ? [{ value: '', label: 'Any time' }] : []),
    ...periods.map(([label, ms]) => ({ value: iso(now - ms), label })),
    ...(asked.since === undefined ? [] : [{ value: since, label: clock.moment(asked.since) }]),
  ]
  const types = EVENT_TYPES.map((type) => ({ value: type, label: eventWords[type] }))
  const { by = '', run = '', prefix = '', type = '' } = asked
  const values = { by, run, prefix, type, since }
  return html`<form method="get" action="${action}" class="search"${finds ? html` data-finds="${finds}"` : nothing}>
${select({ name: 'by', label: 'Who', choices: authors }, { values })}
${input({ name: 'run', label: 'Run', required: false, ...fields.run }, { values })}
${input({ name: 'prefix', label: 'Keys that begin with', required: false }, { values })}
${kinds ? select({ name: 'type', label: 'What', choices: [{ value: '', label: 'Anything' }, ...types] }, { values }) : nothing}
${select({ name: 'since', label: 'Since', choices: times }, { values })}
<button class="quiet">Show</button>
</form>`
}

/** Where changes are taken back, beginning with these. */
export const takeBackPath = (agentId: string, { by, run, prefix, since }: Filters): string =>
  rollbackPath(agentId, filtersQuery({ by, run, prefix, since }))
