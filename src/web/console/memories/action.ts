/** What was done with many memories: in words, in an address, and with an Undo of any number. */
import { hash } from 'node:crypto'
import { html } from 'hono/html'
import type { EventType } from '../../../store/port/events.ts'
import { hidden } from '../../layout/fields.ts'
import { sentenceFor } from '../../layout/for-people.ts'
import { type Html, nothing } from '../../layout/page.ts'
import { note } from '../../layout/parts.ts'
import { agentPath } from '../../layout/paths.ts'
import { number, plural } from '../../layout/words.ts'
import type { AgentVisit } from '../workspace.ts'
import type { Outcome } from './bulk.ts'
import { type Listing, listPath, queryOf } from './listing.ts'

interface VerbWords {
  readonly ask: string
  readonly did: string
  /** What one is that it was not done to. */
  readonly already: string
}

export const VERBS = ['delete', 'pin', 'unpin', 'protect', 'unprotect'] as const

export type Verb = (typeof VERBS)[number]

type Told = Verb | 'restore'

export const words: Readonly<Record<Told, VerbWords>> = {
  delete: { ask: 'Delete', did: 'Deleted', already: 'deleted' },
  pin: { ask: 'Pin', did: 'Pinned', already: 'pinned' },
  unpin: { ask: 'Unpin', did: 'Unpinned', already: 'not pinned' },
  protect: { ask: 'Protect', did: 'Protected', already: 'protected' },
  unprotect: { ask: 'Unprotect', did: 'Unprotected', already: 'not protected' },
  restore: { ask: 'Restore', did: 'Restored', already: 'there' },
}

/** The verb and the event of a change, and what takes it back. */
export const changes: Readonly<Record<Verb, { event: EventType; back: Told }>> = {
  delete: { event: 'delete', back: 'restore' },
  pin: { event: 'patch', back: 'unpin' },
  unpin: { event: 'patch', back: 'pin' },
  protect: { event: 'protect', back: 'unprotect' },
  unprotect: { event: 'unprotect', back: 'protect' },
}

/** By these events it can be taken back, however many memories they are about. */
export interface Action {
  readonly verb: Told
  /** The newest event before it, and the newest right after it; both 0 if it is not taken back. */
  readonly after: number
  readonly to: number
}

const DID =
  /^(delete|pin|unpin|protect|unprotect|restore)~(\d{1,15})~(\d{1,15})~(\d{1,9})~(\d{1,9})~/

type Owner = Pick<AgentVisit, 'session' | 'identity'>

/** A link from elsewhere cannot offer an Undo of what was not just done: nobody else knows the session's id. */
const sealOf = ({ session, identity: { agentId } }: Owner, facts: string): string =>
  hash('sha256', `did ${session.id} ${agentId} ${facts}`, 'hex').slice(0, 32)

const toldOf = (verb: string | undefined): Told | undefined =>
  (Object.keys(words) as Told[]).find((each) => each === verb)

/** For an address, and a hidden field. */
export function actionText(owner: Owner, { action, outcome }: Known): string {
  const { verb, after, to } = action
  const facts = [verb, after, to, outcome.done, outcome.already].join('~')
  return `${facts}~${sealOf(owner, facts)}`
}

export interface Known {
  readonly action: Action
  readonly outcome: Outcome
}

/** Reads the result of `actionText` of the same session: all was done. */
export function actionIn(owner: Owner, did = ''): Known | undefined {
  const [, name, ...counts] = DID.exec(did) ?? []
  const verb = toldOf(name)
  const [after = 0, to = 0, done = 0, already = 0] = counts.map(Number)
  const outcome = { done, already, left: 0, reasons: [], count: done + already }
  const known = verb && { action: { verb, after, to }, outcome }
  return known && actionText(owner, known) === did ? known : undefined
}

/** The list, which says what was done. */
export function didPath(owner: Owner, known: Known, listing: Listing): string {
  const path = listPath(owner.identity.agentId, listing)
  return `${path}${path.includes('?') ? '&' : '?'}did=${actionText(owner, known)}`
}

function leftWords({ left, reasons, forgotten = 1 }: Outcome): Html {
  if (left === 0) return nothing
  const unsaid = left - forgotten - (reasons.length - 1)
  const more = unsaid > 0 ? ` And ${number(unsaid)} more.` : ''
  return html`<p>${plural(left, 'memory', 'memories')} left as ${left === 1 ? 'it is' : 'they are'}: ${reasons.join(' ')}${more}</p>`
}

function doneWords({ verb }: Action, { done, already, count }: Outcome): string {
  const { did, already: state } = words[verb]
  const of = done + already < count ? `${number(done)} of ` : ''
  const all = plural(of ? count : done, 'memory', 'memories')
  const were =
    already > 0 ? ` ${number(already)} ${already === 1 ? 'was' : 'were'} ${state} already.` : ''
  return `${did} ${of}${all}.${were}`
}

/** What was done, what was not and why, and a button that takes it back. */
export function actionNote(owner: Owner, known: Known, listing: Listing): Html {
  const { action, outcome } = known
  const { stopped, left, done } = outcome
  const canUndo = done > 0 && action.to > action.after
  const kind = left > 0 || stopped ? 'bad' : 'good'
  return note(
    kind,
    html`<form method="post" action="${agentPath(owner.identity.agentId)}/memories/undo" class="undo">
<div><p>${doneWords(action, outcome)}${action.verb === 'delete' ? ' The versions are kept: you and the agent can restore them.' : nothing}</p>${leftWords(outcome)}${
      stopped
        ? html`<p>Then it stopped, and the rest is as it was: ${sentenceFor(stopped)}</p>`
        : nothing
    }</div>
${canUndo ? html`${hidden('did', actionText(owner, known))}${hidden('list', queryOf(listing))}<button class="quiet">Undo</button>` : nothing}</form>`,
  )
}
