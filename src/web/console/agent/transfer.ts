/** An agent’s export, as a download or as one page to read or print; and the import of one. */
import { html } from 'hono/html'
import { z } from 'zod'
import { Problem } from '../../../errors.ts'
import {
  attachExport,
  EXPORT_ERRORS,
  exportExample,
  exportSchema,
  type Snapshot,
  takeExport,
} from '../../../home/export.ts'
import { bringIn, IMPORT_ERRORS } from '../../../home/import/import.ts'
import { type Answer, answer } from '../../../http/call.ts'
import { endpoint } from '../../../pipeline/endpoint.ts'
import { sameSite } from '../../../pipeline/guards/origin.ts'
import { noteRefusal } from '../../../pipeline/problem.ts'
import type { Memory } from '../../../store/port/memories.ts'
import { type Imported, type ImportOrder, MOST_CONFLICTS } from '../../../store/port/transfer.ts'
import { select, untouched } from '../../layout/fields.ts'
import { glyph } from '../../layout/glyphs.ts'
import { aroundBody, type Html, keepToItself, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { faultList } from '../../layout/problem-page.ts'
import { type Clock, number, plural } from '../../layout/words.ts'
import { exportPath, findAgent, framed, showAgentPage, tabPath } from '../agent-page.ts'
import { agentPage } from '../endpoints.ts'
import { costs, forOwner, ofAgent } from '../guards.ts'
import { metadataOf } from '../memory/rendered.ts'
import type { AgentVisit, Workspace } from '../workspace.ts'
import { clockOf } from './filters.ts'

export const exportDownload = agentPage({
  operationId: 'consoleExport',
  path: exportPath(':agent'),
  budget: 'exports',
  errors: EXPORT_ERRORS,
  handle: ({ call, identity }, workspace) => attachExport(call, workspace, identity, true),
})

const heading = (
  { profile, memoryCount }: Snapshot,
  now: number,
  clock: Clock,
): Html => html`<header
class="profile"><span class="crest">${glyph(profile.symbol)}</span>
<div class="grow"><h1 dir="auto">${profile.name}</h1>
<p class="lead" dir="auto">${profile.purpose}</p>
<p class="dim">${plural(memoryCount, 'memory', 'memories')} as of ${clock.exactly(now)} · <code>${profile.agentId}</code></p></div></header>`

const entry = (memory: Memory, clock: Clock): Html => html`<article class="entry">
<h2 class="key">${memory.key}</h2>
<p class="dim">Version ${memory.version} · written ${clock.exactly(memory.updatedAt)} · created ${clock.exactly(memory.createdAt)}</p>
<pre class="text" dir="auto">${memory.text}</pre>
${metadataOf(memory)}
</article>`

type Around = Awaited<ReturnType<typeof aroundBody>>

/** Streamed, since all the memories of an agent may be many megabytes. */
async function* sheet(
  snapshot: Snapshot,
  now: number,
  clock: Clock,
  [before, after]: Around,
): AsyncGenerator<string> {
  yield before + String(await heading(snapshot, now, clock))
  for await (const batch of snapshot.memories) {
    yield (await Promise.all(batch.map((memory) => entry(memory, clock)))).join('')
  }
  yield after
}

const page = { tab: 'settings', title: 'Everything', body: nothing } as const

export const printPage = agentPage({
  operationId: 'consolePrint',
  path: `${agentPath(':agent')}/print`,
  budget: 'exports',
  errors: EXPORT_ERRORS,
  async handle(visit, workspace) {
    const { call, identity } = visit
    const { secure, clock } = workspace
    const around = await aroundBody(await framed(visit, workspace, page))
    const pages = await takeExport(call, workspace, identity, (taken) =>
      sheet(taken, clock(), clockOf(call), around),
    )
    keepToItself(call, secure)
    return answer(call, 200, pages, 'text/html; charset=utf-8')
  },
})

const importPath = (agentId: string): string => `${agentPath(agentId)}/import`

const choices = [
  { value: 'fail', label: 'Import nothing at all' },
  { value: 'skip', label: 'Leave it as it is' },
  { value: 'replace', label: 'Make the imported text its next version' },
] as const

/** Shown by the script that sends the file. */
const form = (
  path: string,
): Html => html`<div data-uploads hidden><form method="post" action="${path}" class="stack">
<div class="field"><label for="file">The file</label>
<p class="hint" id="file-hint">An export as it was downloaded.</p>
<input type="file" id="file" name="file" accept=".json,application/json" required aria-describedby="file-hint"></div>
${select({ name: 'onConflict', label: 'If a key already has a memory', choices }, untouched)}
<p class="actions"><button name="dryRun" value="true" class="quiet">See what it would do</button>
<button>Import</button></p>
</form></div>
<p data-without-script>This page needs scripts to send the file. Without them, use the command line: <code>agent-home import FILE</code></p>`

function had(conflicts: readonly string[]): Html {
  if (conflicts.length === 0) return nothing
  const count = conflicts.length < MOST_CONFLICTS ? '' : `, the first ${MOST_CONFLICTS} of them`
  return html`<p>These keys already had a memory${count}:</p><ul>${conflicts.map((key) => html`<li><code>${key}</code></li>`)}</ul>`
}

/** The number of replaced memories is only known as far as their keys are listed. */
function counts({ imported, skipped, conflicts }: Imported, { onConflict }: ImportOrder): string {
  const unchanged = `${number(skipped)} unchanged`
  const updated = onConflict === 'replace' ? conflicts.length : 0
  if (updated < MOST_CONFLICTS)
    return `${number(imported - updated)} created, ${number(updated)} updated, ${unchanged}`
  return `${number(imported)} created or updated, at least ${number(updated)} of them updated, ${unchanged}`
}

function leftOut({ historyLeftOut = 0 }: Imported): Html {
  if (historyLeftOut === 0) return nothing
  return html`<p>Earlier versions left out: ${number(historyLeftOut)}. If a key is or was in use here, only its text is imported.</p>`
}

function success(found: Imported, order: ImportOrder): Html {
  const words = order.dryRun
    ? `It would import: ${counts(found, order)}. Nothing has been changed yet.`
    : `Imported: ${counts(found, order)}.`
  return note('good', html`<p>${words}</p>${leftOut(found)}${had(found.conflicts)}`)
}

const TAKEN = 'Nothing was imported. Choose below what to do if a key already has a memory.'

const namesKeys = z.object({ conflicts: z.array(z.string()) })

function failure(refusal: Problem): Html {
  const { conflicts } = namesKeys.safeParse(refusal.extras.members).data ?? { conflicts: [] }
  // Errors of the file as a whole are in the message already.
  const placed = (refusal.extras.errors ?? []).filter(
    ({ pointer, message }) => pointer !== '' && !refusal.message.includes(message),
  )
  // The catalogue's sentence about a conflict names a parameter for programs.
  const words = refusal.code === 'import_conflict' ? TAKEN : refusal.message
  return note('bad', html`<p>${words}</p>${faultList(placed)}${had(conflicts)}`)
}

interface Outcome {
  readonly status: number
  readonly shown: Html
}

async function show(
  visit: AgentVisit,
  workspace: Workspace,
  { status, shown }: Outcome,
): Promise<Answer> {
  const agent = await findAgent(workspace, visit.identity)
  const { agentId } = agent.profile
  return showAgentPage(visit, workspace, {
    agent,
    tab: 'settings',
    title: 'Import',
    status,
    scripts: ['upload'],
    body: html`<div class="narrow"><h1>Import</h1>
<p class="lead">The memories in the file become memories of this agent: all or none, once the whole file has been checked.</p>
<div id="outcome" aria-live="polite">${shown}</div>
${form(importPath(agentId))}
<p class="actions"><a class="button quiet" href="${tabPath(agentId, 'memories')}">To the memories</a></p></div>`,
  })
}

export const importPage = agentPage({
  operationId: 'consoleImportPage',
  path: importPath(':agent'),
  handle: (visit, workspace) => show(visit, workspace, { status: 200, shown: nothing }),
})

/** Errors of the file are shown on the page. */
async function outcomeOf(
  { call, identity }: AgentVisit,
  workspace: Workspace,
  order: ImportOrder,
): Promise<Outcome> {
  try {
    const imported = await bringIn(call, workspace, identity, order)
    return { status: 200, shown: success(imported, order) }
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    noteRefusal(call, error)
    return { status: error.status, shown: failure(error) }
  }
}

export const importUpload = endpoint({
  operationId: 'consoleImport',
  method: 'POST',
  path: importPath(':agent'),
  params: ofAgent,
  guards: [sameSite, ...forOwner, ...costs('controls')],
  query: z.object({
    onConflict: z.enum(['fail', 'skip', 'replace']).default('fail'),
    dryRun: z.literal('true').optional(),
  }),
  upload: { schema: exportSchema, example: exportExample },
  errors: [...IMPORT_ERRORS, 'invalid_token'],
  async handle(visit, workspace: Workspace) {
    const { onConflict, dryRun } = visit.query
    const outcome = await outcomeOf(visit, workspace, { onConflict, dryRun: dryRun === 'true' })
    return show(visit, workspace, outcome)
  },
})
