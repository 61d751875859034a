/** /console/agents/<id>/rollback: takes changes back, once it is seen what that changes. */
import { html } from 'hono/html'
import { z } from 'zod'
import { problem } from '../../../errors.ts'
import { findHead } from '../../../home/head.ts'
import { refusal } from '../../../home/refusal.ts'
import { memoryKey } from '../../../home/schemas.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { clientOf } from '../../../pipeline/failures.ts'
import { queryInteger } from '../../../pipeline/schemas.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import type { RollbackAnswer, RollbackOrder, TakenBack } from '../../../store/port/transfer.ts'
import { nextTurn } from '../../../turns.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { pages } from '../../layout/parts.ts'
import { memoryPath, rollbackPath } from '../../layout/paths.ts'
import { number, plural } from '../../layout/words.ts'
import { showAgentPage, tabPath } from '../agent-page.ts'
import { agentForm, agentPage } from '../endpoints.ts'
import { differenceView } from '../memory/changes.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { eventsAfter, rolledBackQuery } from './activity.ts'
import { changeFilters, clockOf, DAY_MS, filterForm, filtersQuery, unlessEmpty } from './filters.ts'

const path = rollbackPath(':agent')

type Done = Extract<RollbackAnswer, { outcome: 'rolled_back' }>

/** Throws the refusal of the operator, `event_not_found`, `event_gone` or `memory_quota_reached`. */
async function rollBack(
  { call, identity }: AgentVisit,
  workspace: Workspace,
  order: RollbackOrder,
): Promise<Done> {
  const { costly, store, clock } = workspace
  const found = await costly.run({ client: clientOf(call, workspace) }, () =>
    store.rollBack(identity, order, clock()),
  )
  if (found.outcome === 'no_event') throw problem('event_not_found')
  if (found.outcome === 'event_gone') throw problem('event_gone')
  if (found.outcome === 'over_quota') throw problem('memory_quota_reached')
  if (found.outcome !== 'rolled_back') throw refusal(found)
  return found
}

/** The last event that is not taken back, and the first that is. */
async function startOf(workspace: Workspace, { identity }: AgentVisit, { to, since }: Asked) {
  if (to !== undefined) return { to, first: (await eventsAfter(workspace, identity, to)).events[0] }
  const found = await workspace.store.listEvents(identity, {
    order: 'oldest',
    since,
    prefix: '',
    limit: 1,
  })
  if (found.outcome !== 'page') throw refusal(found)
  const [first] = found.events
  return { to: first ? first.id - 1 : (await findHead(workspace, identity)).head.id, first }
}

const DIFFERENCES_PER_PAGE = 25

/** Of texts; differences beyond it are left out. */
const PAGE_BYTES = 131_072

/** So many differences are open at once. */
const OPEN = 6

/** One at a time, because comparing takes the processor. */
async function differencesOf(
  { store }: Workspace,
  { identity }: AgentVisit,
  changes: readonly TakenBack[],
): Promise<Html[]> {
  const { agentId } = identity
  const rows: Html[] = []
  let bytes = 0
  for (const [at, { key, was }] of changes.entries()) {
    const [now, then] = await Promise.all([
      store.readMemory(identity, key),
      was ? store.readVersion(identity, was.key, was.version) : undefined,
    ])
    const current = now.outcome === 'found' ? now.memory : undefined
    const earlier = then?.outcome === 'found' ? then.memory : undefined
    bytes += Buffer.byteLength((current?.text ?? '') + (earlier?.text ?? ''))
    const end = was
      ? `will get version ${was.version} again`
      : 'will be deleted: it did not exist then'
    const name = html`<code>${key}</code> <span class="dim">${end}</span>`
    rows.push(
      bytes > PAGE_BYTES
        ? html`<li><a href="${memoryPath(agentId, key)}">${name}</a></li>`
        : html`<li><details id="of-${key}"${at < OPEN ? html` open` : nothing}><summary>${name}</summary>${differenceView(current, earlier)}</details></li>`,
    )
    await nextTurn()
  }
  return rows
}

const named = (keys: readonly string[]): string =>
  keys.slice(0, DIFFERENCES_PER_PAGE).join(', ') + (keys.length > DIFFERENCES_PER_PAGE ? ', …' : '')

const summary = ({ restored, deleted, skipped }: Done): Html =>
  html`<p>${
    restored + deleted === 0
      ? 'There is nothing to take back.'
      : html`<strong>${plural(restored + deleted, 'memory', 'memories')}</strong> would change: ${restored} restored, ${deleted} deleted.`
  }${
    skipped.length > 0
      ? ` ${plural(skipped.length, 'memory', 'memories')} would stay unchanged, because no earlier version is kept: ${named(skipped)}.`
      : ''
  }</p>`

const query = z.object({
  ...changeFilters,
  /** The last event that is not taken back; otherwise `since` counts. */
  to: unlessEmpty(queryInteger({ minimum: 0 })),
  /** Differences after this key. */
  after: unlessEmpty(memoryKey),
})

type Asked = z.output<typeof query>

async function show(
  visit: AgentVisit,
  workspace: Workspace,
  { after, ...asked }: Asked,
): Promise<Answer> {
  const { call, identity } = visit
  const { agentId } = identity
  const now = workspace.clock()
  const since = asked.since ?? now - DAY_MS
  const { to, first } = await startOf(workspace, visit, { ...asked, since })
  const { by, run, prefix = '' } = asked
  const done = await rollBack(visit, workspace, { to, by, run, prefix, dryRun: true })
  const rest = done.changes.filter(({ key }) => after === undefined || key > after)
  const listed = rest.slice(0, DIFFERENCES_PER_PAGE)
  const count = done.restored + done.deleted
  const action = rollbackPath(agentId)
  const filters = { ...asked, since: first?.createdAt ?? since }
  const known = first ? [first] : []
  const form = { action, asked: filters, clock: clockOf(call), known, finds: 'changes' }
  const last = rest.length > listed.length ? listed.at(-1) : undefined
  const further = last && {
    path: `?${filtersQuery({ by, run, prefix })}&to=${to}&after=${last.key}`,
    words: `${number(rest.length - listed.length)} more`,
  }
  return showAgentPage(visit, workspace, {
    tab: 'activity',
    title: 'Take back changes',
    scripts: ['find', 'submit'],
    body: html`<h1>Take back changes</h1>
<p class="lead">Memories become what they were before these changes. Nothing changes until you confirm, and every step is kept, so this can be taken back too.</p>
${await filterForm(visit, workspace, form)}
<div id="changes"><form method="post" action="${action}">
${hidden('to', to)}${hidden('by', by ?? '')}${hidden('run', run ?? '')}${hidden('prefix', prefix)}
${summary(done)}
<p class="actions">${count > 0 ? html`<button>Take back ${plural(count, 'change')}</button>` : nothing}
<a class="button quiet" href="${tabPath(agentId, 'activity')}">Cancel</a></p>
</form>
<ul class="differences">${await differencesOf(workspace, visit, listed)}</ul>
${pages('Pages', undefined, further)}</div>
<p class="away" role="status" id="found"></p>`,
  })
}

const errors = ['event_not_found', 'event_gone', 'memory_quota_reached', 'overloaded'] as const

export const rollbackPage = agentPage({
  operationId: 'consoleRollBackPage',
  path,
  query,
  errors,
  handle: (visit, workspace) => show(visit, workspace, visit.query),
})

const confirmed = z.object({
  to: queryInteger({ minimum: 0 }),
  by: changeFilters.by,
  run: changeFilters.run,
  prefix: changeFilters.prefix,
})

/** Nothing is typed in it that could be lost. */
export const rollbackForm = agentForm({
  operationId: 'consoleRollBack',
  path,
  budget: 'controls',
  errors,
  async handle(visit, workspace) {
    const { prefix = '', ...order } = validateBody(confirmed, visit.sent)
    const done = await rollBack(visit, workspace, { ...order, prefix, dryRun: false })
    const rolled = rolledBackQuery(done.restored, done.deleted, done.skipped.length)
    return redirect(visit.call, `${tabPath(visit.identity.agentId, 'activity')}?${rolled}`)
  },
})
