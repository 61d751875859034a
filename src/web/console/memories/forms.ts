/** The forms of the list: delete, pin and protect, for one or several memories, or all that match. */
import { html } from 'hono/html'
import { z } from 'zod'
import { findHead } from '../../../home/head.ts'
import { type Answer, redirect } from '../../../http/call.ts'
import { spendAfter, spendMore } from '../../../pipeline/guards/budget.ts'
import { validateBody } from '../../../pipeline/validate.ts'
import { hidden } from '../../layout/fields.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { number, plural } from '../../layout/words.ts'
import { showAgentPage } from '../agent-page.ts'
import { agentForm, type SentVisit } from '../endpoints.ts'
import { takeTurn, turnField } from '../form-once.ts'
import type { Workspace } from '../workspace.ts'
import { type Known, VERBS, type Verb, words } from './action.ts'
import { AT_ONCE, inBatches, nothingChanged } from './bulk.ts'
import { type Chosen, findChosen, MOST_FOUND } from './chosen.ts'
import { isSearch } from './found.ts'
import { type Listing, listingIn, listPath, memoryIn } from './listing.ts'
import { afterDelete, showDone, showListAgain } from './memories.ts'
import { acts } from './several.ts'

const asked = z.object({ do: z.enum(VERBS), back: z.string().optional() })

/** Back to the page with the form: the memory's own, or the list. */
function wayBack(agentId: string, chosen: readonly Chosen[], sent: SentVisit['sent']): string {
  const listing = listingIn(sent.list)
  const [one] = chosen
  return sent.back === 'memory' && one
    ? memoryIn(agentId, one.key, listing)
    : listPath(agentId, listing)
}

/** Which memories of the agent. */
function which({ q, prefix, pinned }: Listing): Html {
  const found = isSearch({ q }) ? html` that “<bdi>${q}</bdi>” finds` : nothing
  const begun = prefix ? html` whose keys begin with <code>${prefix}</code>` : nothing
  return html`${pinned ? 'Pinned memories' : 'Memories'}${found}${begun}`
}

interface Question {
  readonly verb: Verb
  readonly count: number
  /** The number was another when it was asked for. */
  readonly isAgain: boolean
}

/** Names the number; nothing is done to all that match without it. */
async function ask(
  visit: SentVisit,
  workspace: Workspace,
  { verb, count, isAgain }: Question,
): Promise<Answer> {
  const { agentId } = visit.identity
  const listing = listingIn(visit.sent.list)
  const some = `${words[verb].ask} ${plural(count, 'memory', 'memories')}`
  const isCut = isSearch(listing) && count >= MOST_FOUND
  const turn = await turnField(visit, workspace)
  return showAgentPage(visit, workspace, {
    tab: 'memories',
    title: some,
    status: isAgain ? 409 : 200,
    scripts: ['submit'],
    body: html`<div class="narrow"><h1>${some}?</h1>
${isAgain ? note('bad', html`<p>Nothing was changed. There were ${number(Number(visit.sent.number))} when you were asked, and there are ${number(count)} now.</p>`) : nothing}
<p class="lead">${which(listing)}.${isCut ? ` A search finds its ${number(MOST_FOUND)} best and no more.` : nothing}</p>
${verb === 'delete' ? html`<p>Their versions are kept, and an Undo restores them. Those that are protected are deleted too, and are not protected once restored.</p>` : nothing}
<form method="post" action="${agentPath(agentId)}/memories" class="stack">
${hidden('all', 'yes')}${hidden('list', visit.sent.list ?? '')}${hidden('do', verb)}${hidden('number', count)}${turn}
<p class="actions"><button${verb === 'delete' ? html` class="danger"` : nothing}>${some}</button>
<a class="button quiet" href="${listPath(agentId, listing)}">Cancel</a></p>
</form></div>`,
  })
}

/** What needs several batches empties the budget rather than waiting for it to hold so much. */
export const spendFor = (
  visit: Parameters<typeof spendMore>[0],
  workspace: Workspace,
  count: number,
): Promise<void> => (count > AT_ONCE ? spendAfter : spendMore)(visit, workspace, count - 1)

export type FormVisit = Parameters<typeof spendMore>[0] & SentVisit

async function act(
  visit: FormVisit,
  workspace: Workspace,
  verb: Verb,
  chosen: readonly Chosen[],
): Promise<Known> {
  const { identity } = visit
  const together = visit.sent.all !== 'yes' && chosen.length <= AT_ONCE
  await spendFor(visit, workspace, chosen.length)
  const { head } = await findHead(workspace, identity)
  const outcome = await inBatches(chosen, (batch, tally) =>
    acts[verb]({ workspace, identity, chosen: batch, tally, together }),
  )
  if (outcome.done + outcome.already === 0) throw nothingChanged(outcome.reasons)
  const { head: last } = await findHead(workspace, identity)
  return { action: { verb, after: head.id, to: last.id }, outcome }
}

/** Once the number is confirmed, and is so still. Throws `form_sent_before`. */
async function changeAll(visit: FormVisit, workspace: Workspace, verb: Verb): Promise<Answer> {
  const asked = visit.sent.number
  if (asked !== undefined) await takeTurn(visit, workspace)
  const chosen = await findChosen(visit, workspace)
  if (asked === String(chosen.length))
    return showDone(visit, workspace, await act(visit, workspace, verb, chosen))
  return ask(visit, workspace, { verb, count: chosen.length, isAgain: asked !== undefined })
}

export const severalForm = agentForm({
  operationId: 'consoleChange',
  path: `${agentPath(':agent')}/memories`,
  budget: 'writes',
  refuse: showListAgain,
  errors: [
    'memory_not_found',
    'batch_conflict',
    'metadata_too_large',
    'overloaded',
    'form_sent_before',
  ],
  async handle(visit, workspace) {
    const { call, identity, sent } = visit
    const { do: verb } = validateBody(asked, { do: sent.do, back: sent.back })
    if (sent.all === 'yes') return changeAll(visit, workspace, verb)
    const chosen = await findChosen(visit, workspace)
    const known = await act(visit, workspace, verb, chosen)
    const { agentId } = identity
    if (verb === 'delete' && chosen.length <= AT_ONCE)
      return redirect(call, afterDelete(agentId, chosen, listingIn(sent.list)))
    return chosen.length > 1
      ? showDone(visit, workspace, known)
      : redirect(call, wayBack(agentId, chosen, sent))
  },
})
